/** Calls as they travel to the writing thread and come back from the reading one. */
import type { CallRow, LlmCall, StoredDocument } from '#contracts';
import type { Primitive } from '../wire.js';
import { decodeBody, encodeBody } from './call-body.js';
import type { CallBatch, RawCall, RawDocument, RawDocumentChange } from './proxy-protocol.js';
import { spendSums } from './spend-sums.js';

/** Memory of a call beside its body, about. */
const ROW_BYTES = 256;

/** Flattens in the order of CALL_COLUMNS. Mostly the JSON text of the body. */
export function callBatch(calls: readonly CallRow[]): CallBatch {
  const rows: Primitive[] = [];
  const changes: RawDocumentChange[] = [];
  let bytes = 0;
  for (const { tenant_id, call, documents } of calls) {
    const body = encodeBody(call);
    bytes += ROW_BYTES + body.length;
    rows.push(
      tenant_id,
      call.call_id,
      call.agent_id,
      call.session_id,
      call.model,
      call.decision,
      isFailed(call) ? 1 : 0,
      call.started_at_ms,
      body,
    );
    if (documents === undefined) continue;
    const { saved = [], deleted = [] } = documents;
    const change = { saved: saved.map(rawDocument), deleted };
    for (const document of change.saved) bytes += document.body.length;
    changes.push(change);
  }
  return { rowCount: calls.length, rows, spend: spendSums(calls), documents: changes, bytes };
}

export const rawDocument = (document: StoredDocument): RawDocument => ({
  ...document,
  body: JSON.stringify(document.body ?? null),
});

export const toCall = ({ body, ...columns }: RawCall): LlmCall => ({ ...columns, ...decodeBody(body) });

/** An answer that broke off has a good status all the same. */
const isFailed = ({ status, decision }: LlmCall): boolean =>
  status >= 400 || status === 0 || decision === 'upstream_failed' || decision === 'aborted';
