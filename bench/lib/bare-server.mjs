/**
 * The peer of the ingest bench: Fastify 5 as it comes, one route that parses the same body as JSON and answers 202 with
 * an object like ours. No validation, no store, no authentication: the floor of what this framework costs.
 */
import Fastify from 'fastify';
import { serve } from './helper.mjs';

const app = Fastify({ bodyLimit: 10 * 1024 * 1024 });
app.post('/v1/decision-logs', (request, reply) => {
  const { meta } = /** @type {any} */ (request.body);
  return reply.code(202).send({
    status: 'accepted',
    trace_id: meta.trace_id,
    session_id: meta.session_id,
    entropy: { score: 0.8, severity: 'normal', window_size: 5 },
    control: { state: 'active', directives: [] },
  });
});

serve({
  /** @returns {Promise<number>} the port */
  async listen() {
    await app.listen({ port: 0, host: '127.0.0.1' });
    const address = app.server.address();
    return address && typeof address === 'object' ? address.port : 0;
  },
});
