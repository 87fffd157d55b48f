/** What the Calls page shows, in the address: a link shows a colleague exactly what you see. */
import { CALL_DECISIONS, type CallDecision, type LlmCall } from '#contracts';
import { dropAbsent, flagOf, oneOf, textOf } from '../../app/search-values';

export interface CallFilter {
  agent?: string;
  session?: string;
  model?: string;
  decision?: CallDecision;
  /** Only calls that ended badly. */
  failed?: true;
}

export interface CallsSearch extends CallFilter {
  /** The call whose details are open. */
  call?: string;
}

/** Every member that narrows the list, absent. */
export const NO_CALL_FILTER = {
  agent: undefined,
  session: undefined,
  model: undefined,
  decision: undefined,
  failed: undefined,
} as const;

export function parseCallsSearch(search: Record<string, unknown>): CallsSearch {
  return dropAbsent({
    agent: textOf(search.agent),
    session: textOf(search.session),
    model: textOf(search.model),
    decision: oneOf(CALL_DECISIONS, search.decision),
    failed: flagOf(search.failed),
    call: textOf(search.call),
  }) as CallsSearch;
}

export const isCallFiltered = ({ agent, session, model, decision, failed }: CallFilter): boolean =>
  Boolean(agent || session || model || decision || failed);

/** Its client got an error, or no answer: as `failed=true` of `GET /v1/calls` has it. */
export const isFailedCall = ({ status, decision }: Pick<LlmCall, 'status' | 'decision'>): boolean =>
  status >= 400 || status === 0 || decision === 'upstream_failed';

/** Made once per change of the filter, called once per call; decides as `GET /v1/calls` does. */
export function callMatcher(filter: CallFilter): (call: LlmCall) => boolean {
  const { agent, session, model, decision, failed } = filter;
  return (call) =>
    (!agent || call.agent_id === agent) &&
    (!session || call.session_id === session) &&
    (!model || call.model === model) &&
    (!decision || call.decision === decision) &&
    (!failed || isFailedCall(call));
}

/** The query of `GET /v1/calls`. */
export const callQuery = ({ agent, session, model, decision, failed }: CallFilter) => ({
  agent_id: agent,
  session_id: session,
  model,
  decision,
  failed,
});
