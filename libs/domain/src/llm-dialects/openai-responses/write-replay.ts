/** Writes an answer given before as the response to this request. */
import type { OwnAnswer, ReplayToWrite } from '../dialect.js';
import { asRecord, type JsonRecord } from '../read-json.js';
import { cachedUsage, idAtVendor, writtenCalls } from '../written-answer.js';
import { readResponsesRequest } from './read-request.js';
import { writeResponses } from './write-answer.js';

/** Members of a request that a response says back. */
const SAID_BACK = [
  ...['instructions', 'max_output_tokens', 'metadata', 'parallel_tool_calls', 'previous_response_id'],
  ...['safety_identifier', 'temperature', 'tool_choice', 'tools', 'top_p', 'truncation', 'user'],
  ...['prompt_cache_key'],
];

/**
 * Null where the caller may go on from the response by its id and the vendor would not know it: unless the request says
 * `store: false`, only the vendor's own response, under its own id, will do.
 */
export function writeResponsesReplay({ answer, body, id, atMs }: ReplayToWrite): OwnAnswer | null {
  const fields = asRecord(body) ?? {};
  if (fields.background || fields.conversation) return null;
  const isKept = fields.store !== false;
  const keptId = idAtVendor(answer, 'openai-responses');
  if (isKept && keptId === null) return null;
  const request = readResponsesRequest(body);
  const written = {
    id,
    model: answer.model ?? request.model ?? '',
    text: answer.text,
    tool_calls: writtenCalls(answer, 'openai-responses', (call, index) => call.id ?? `call_${id}_${index}`),
    usage: cachedUsage(answer.usage),
    stream: request.stream,
    atMs,
  };
  return writeResponses(written, isKept && keptId !== null ? keptId : `resp_${id}`, saidBack(fields));
}

function saidBack(fields: JsonRecord): JsonRecord {
  const said: JsonRecord = { store: fields.store !== false };
  for (const name of SAID_BACK) {
    if (fields[name] !== undefined && fields[name] !== null) said[name] = fields[name];
  }
  const text = asRecord(fields.text);
  if (text) said.text = { format: { type: 'text' }, ...text };
  const reasoning = asRecord(fields.reasoning);
  if (reasoning) said.reasoning = { effort: null, summary: null, ...reasoning };
  return said;
}
