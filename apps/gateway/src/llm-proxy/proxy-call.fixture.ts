import type { IncomingMessage, ServerResponse } from 'node:http';
import { agentScope, sessionKey } from '#contracts';
import { type Dialect, dialectFor } from '#domain/llm-dialects';
import { BytePieces } from '#kernel';
import { ProxyCall } from './proxy-call.js';

export interface ProxyCallOptions {
  id?: string;
  tenantId?: string;
  agentId?: string;
  sessionId?: string;
  method?: string;
  /** Below the upstream's base URL. */
  path?: string;
  /** Null: the path is passed through unread. Absent: OpenAI's for that method and path. */
  dialect?: Dialect | null;
  /** A text is sent as it is, any other value as JSON. Absent: none came. */
  body?: unknown;
  outgoing?: object;
}

/** For specs: a call to OpenAI as `identify`, `receive` and the session's steps leave it, its body read. */
export function buildProxyCall(options: ProxyCallOptions = {}): ProxyCall {
  const { id = 'call-1', tenantId = 'default', agentId = 'agent-1', sessionId = 's1' } = options;
  const { method = 'POST', path = '/chat/completions', body, outgoing = {} } = options;
  const target = { upstream: 'openai', agentId: null, path, query: '' };
  const incoming = { method, headers: {}, rawHeaders: [] as string[] } as IncomingMessage;
  const call = new ProxyCall(id, 5, target, incoming, outgoing as ServerResponse);
  call.principal = { kind: 'agent', key_id: 'k', key_name: 'k', tenant_id: tenantId, agent_ids: null };
  call.agentId = agentId;
  call.scope = agentScope(tenantId, agentId);
  call.sessionId = sessionId;
  call.sessionKey = sessionKey(tenantId, sessionId);
  call.upstream = {
    name: 'openai',
    kind: 'openai',
    baseUrl: 'http://upstream.test',
    origin: 'http://upstream.test',
    basePath: '',
    apiKey: 'k',
    source: 'environment',
  };
  call.path = path;
  const { dialect = dialectFor('openai', method, path) } = options;
  call.dialect = dialect;
  if (body === undefined) return call;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  call.body = new BytePieces();
  call.body.push(Buffer.from(text));
  if (dialect !== null) call.readAs(JSON.parse(text));
  return call;
}
