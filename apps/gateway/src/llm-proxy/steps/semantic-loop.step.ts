/**
 * Step 6: the same thing asked again in other words gets a hint. Only what the user has just written is looked at, and
 * for a few milliseconds at most; a call whose check fails, for whatever reason, goes on as it came.
 */
import { type LlmRequest, SEMANTIC_LOOP_POLICY_DEFAULT, type SessionKey } from '#contracts';
import { promptOf } from '#domain/semantic-loop';
import { deferred } from '#kernel';
import { type AskedEnding, digestOf, type LoopCheck } from '../../semantic-loop/loop-check.js';
import type { LoopDesk } from '../../semantic-loop/loop-desk.js';
import type { SemanticLoopEvents } from '../../semantic-loop/semantic-loop-events.js';
import type { AgentDirectory } from '../agents/agent-directory.js';
import type { ProxyCall } from '../proxy-call.js';
import { messagesOf } from '../requests/messages-of.js';
import { takesWords } from '../requests/takes-words.js';
import { systemOf } from '../sessions/session-of-call.js';
import type { Step } from '../step.js';

export interface SemanticLoopParts {
  isEnabled: boolean;
  agents: Pick<AgentDirectory, 'restriction'>;
  check: Pick<LoopCheck, 'ask' | 'noteFirst' | 'noteEnded'>;
  desk: Pick<LoopDesk, 'recall' | 'note'>;
  events: Pick<SemanticLoopEvents, 'failedOpen'>;
  /** Words for a model whose agent repeats itself. */
  hint: string;
}

export const semanticLoopStep = (parts: SemanticLoopParts): Step => ({
  name: 'semantic_loop',
  onFailure: 'open',
  readsAll: true,
  run(call: ProxyCall): undefined | Promise<undefined> {
    if (!parts.isEnabled || call.request === null || call.sessionId === null) return undefined;
    // It asks nothing yet.
    if (call.request.only_warms) return undefined;
    if (policyOf(parts, call) === 'off') return undefined;
    const prompt = promptOf(call.request);
    if (prompt === null) return undefined;
    const before = call.asked;
    call.asked = [...before, digestOf(prompt)];
    if (!isNewConversation(call)) return checkPrompt(parts, call, { prompt, before });
    const { id: callId, agentId } = call;
    parts.check.noteFirst({ sessionKey: call.sessionKey as SessionKey, agentId, callId, prompt });
    return undefined;
  },
  settle(call: ProxyCall): void {
    const { sessionKey, agentId, id: callId, checkedPrompt: prompt } = call;
    if (sessionKey !== null && prompt !== null)
      parts.check.noteEnded({ sessionKey, agentId, callId, prompt }, endingOf(call));
  },
});

const policyOf = ({ agents }: SemanticLoopParts, { scope }: ProxyCall) =>
  agents.restriction(scope)?.semantic_loop ?? SEMANTIC_LOOP_POLICY_DEFAULT;

const endingOf = ({ isAnswered, wasHeard }: ProxyCall): AskedEnding =>
  isAnswered ? 'answered' : wasHeard ? 'left' : 'unanswered';

/**
 * A first question whose session nobody named begins a conversation of its own: the same question from elsewhere has
 * the same fingerprint and is no loop. What repeats itself to the letter is the kill switch's business. What comes behind
 * it may ask it again.
 */
const isNewConversation = ({ isSessionInferred, request }: ProxyCall): boolean =>
  isSessionInferred &&
  request !== null &&
  !request.continues &&
  request.message_count <= (request.system_text === '' ? 1 : 2);

/**
 * The same words to the letter are no loop by themselves beside something else that is new: a reminder that a client puts
 * behind each result of a tool, a question about one picture after another, what stands in front of an answer that is gone
 * on with. If all of it is the same, the kill switch finds it; in other words it is asked again.
 */
const bringsMoreThanWords = ({ newest }: LlmRequest): boolean =>
  newest.continued !== undefined || newest.tool_results.length > 0 || newest.attachment_digests.length > 0;

async function checkPrompt(
  parts: SemanticLoopParts,
  call: ProxyCall,
  { prompt, before }: { prompt: string; before: readonly string[] },
): Promise<undefined> {
  call.checkedPrompt = prompt;
  const { id: callId, tenantId, agentId, isRetry, traceParent, startedAtMs: atMs } = call;
  const sessionId = call.sessionId as string;
  const sessionKey = call.sessionKey as SessionKey;
  const gone = deferred();
  call.onGone = () => gone.resolve();
  // Read now: the call lets go of it.
  const request = call.request as LlmRequest;
  const isMoreThanWords = bringsMoreThanWords(request);
  const task = digestOf(JSON.stringify([request.model, systemOf(request.system_text)]));
  const counts = (similar: string) =>
    !(isMoreThanWords && similar === prompt) &&
    (!call.isSessionInferred || before.includes(digestOf(similar)) || hasAsked(call, similar));
  const question = {
    tenantId,
    sessionId,
    sessionKey,
    agentId,
    callId,
    prompt,
    isRetry,
    task,
    counts,
    traceParent,
    gone: gone.promise,
  };
  const verdict = await parts.check.ask(question).finally(() => {
    call.onGone = null;
  });
  if (verdict.kind === 'failed_open') {
    call.finding = verdict.reason;
    call.isSidecarLate = verdict.reason === 'timeout';
  }
  if (verdict.kind !== 'loop') return;
  if (verdict.isNew) await parts.desk.recall({ tenantId, sessionId, sessionKey, atMs });
  // An operator may have changed it meanwhile.
  const policy = policyOf(parts, call);
  if (policy === 'off') return;
  const isHinted = takesWords(call, parts.hint);
  call.finding = isHinted ? 'hinted' : 'noted';
  if (verdict.isNew) {
    const looping = { callId, tenantId, agentId, sessionId, sessionKey, atMs, prompt, isHinted };
    call.finding = parts.desk.note(looping, policy, verdict.answer).action;
  }
  if (isHinted) call.injections = [...call.injections, parts.hint];
  else parts.events.failedOpen('modification');
}

/** Messages looked back over for what was asked before: several times the prompts that a history keeps. */
const MESSAGES_BACK_MAX = 64;
/** Of looking back, in one turn of the event loop: most conversations take a tenth of it, and one of 64 MiB took many seconds. */
const LOOK_BACK_MS_MAX = 50;

/**
 * Whether this very conversation holds an earlier prompt. Conversations with the same opening share a session where
 * nobody named one; what only another of them asked is not this one's loop, nor is what there is no time to look for.
 */
function hasAsked(call: ProxyCall, similarPrompt: string): boolean {
  const body = call.parsedBody() as Record<string, unknown>;
  const found = messagesOf(body);
  if (found === undefined || call.dialect === null) return false;
  const messages = found.list as readonly { role?: unknown }[];
  let last = messages.length - 1;
  // Words put into the model's mouth come behind the newest prompt, which is not an earlier one.
  while (last > 0 && /^(?:assistant|model)$/.test(String(messages[last]?.role))) last -= 1;
  const untilMs = performance.now() + LOOK_BACK_MS_MAX;
  for (let end = last; end > 0 && end > last - MESSAGES_BACK_MAX && performance.now() < untilMs; end -= 1) {
    const earlier = call.dialect.readRequest(
      { ...body, [found.name]: messages.slice(0, end) },
      call.target.path,
    );
    if (promptOf(earlier) === similarPrompt) return true;
  }
  return false;
}
