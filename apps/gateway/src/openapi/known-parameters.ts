/**
 * Refuses what the documentation does not list: query parameters, since a misspelt filter would list everything and a
 * `?preview=true` meant for a body would be done; and bodies of routes that heed none, such as a reason that nobody would
 * keep. After the access guard, so that a stranger is told nothing else.
 */
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ObservatoryError, repeatedNames } from '#contracts';
import { type Route, refusesUnknownParameters } from './route.js';

export class KnownParameters implements NestInterceptor {
  /** By method and path as Fastify writes them. */
  readonly #routes: ReadonlyMap<string, { names: readonly string[]; takesBody: boolean }>;

  constructor(routes: readonly Route[]) {
    this.#routes = new Map(
      routes
        .filter(refusesUnknownParameters)
        .map(({ method, path, query, body }) => [
          `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
          { names: Object.keys(query?.shape ?? {}), takesBody: body !== undefined },
        ]),
    );
  }

  /** @throws ObservatoryError invalid_fields naming each parameter or member at fault, and the parameters that exist */
  intercept(context: ExecutionContext, next: CallHandler): ReturnType<CallHandler['handle']> {
    const { method, routeOptions, query, body } = context.switchToHttp().getRequest<FastifyRequest>();
    const route = this.#routes.get(`${method === 'HEAD' ? 'GET' : method} ${routeOptions.url}`);
    if (route === undefined) return next.handle();
    const { names, takesBody } = route;
    const given = Object.entries(query as object);
    const known = names.length > 0 ? `There are: ${names.join(', ')}` : 'It takes none';
    refuse(
      given.filter(([name]) => !names.includes(name)),
      `unknown to this route. ${known}.`,
    );
    refuse(
      given.filter(([, value]) => Array.isArray(value)),
      'given more than once; send it once.',
    );
    if (!takesBody) refuse(Object.entries(Object(body)), 'this route takes no body.');
    return next.handle();
  }
}

function refuse(atFault: readonly [name: string, unknown][], words: string): void {
  if (atFault.length === 0) return;
  const fields = repeatedNames(atFault.map(([name]) => name));
  throw new ObservatoryError('invalid_fields', `${fields.join(', ')}: ${words}`, { fields });
}
