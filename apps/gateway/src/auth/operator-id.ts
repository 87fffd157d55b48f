/** Who an operator says it is: a name fit for the audit, and none by which the gateway's own parts act there. */
import { KILL_SWITCH_ACTOR } from '#contracts';
import { parseOperatorId, parseOperatorIdHeader } from '#domain/auth';

/** Null: not usable as an operator's id. */
export const claimedOperatorId = (text: string): string | null => unlessReserved(parseOperatorId(text));

/** The same of a header, which may be UTF-8 read as Latin-1. */
export const claimedOperatorIdHeader = (header: string | undefined): string | null =>
  unlessReserved(parseOperatorIdHeader(header));

/** `system` is refused with the form; the kill switch signs what it deactivates. */
const unlessReserved = (operatorId: string | null): string | null =>
  operatorId?.toLowerCase() === KILL_SWITCH_ACTOR ? null : operatorId;
