/** A notice of sessions that loop, or wait, in words: those of which nobody heard by name, and how many there are in all. */

import { oneLine } from '#kernel';
import { LOOPING_SESSIONS_PER_AGENT_MAX } from './looping-sessions.js';
import type { NoticeDetail } from './rule-condition.js';

/** Of an alert that a restart found firing. */
export const UNHEARD_SINCE_START = 'That was before this gateway was started; nothing more was heard of it.';

const SESSION_CHARS_MAX = 60;

interface Words {
  on: string;
  text: string;
  off: string;
}

/** What one agent does, one of its sessions, and several. */
interface Verbs {
  agent: string;
  session: string;
  sessions: string;
}

/** @param agent as a sentence begins with it */
export function loopWords(agent: string, detail: NoticeDetail): Words {
  const verbs = {
    agent: 'is going round in circles',
    session: 'repeats the same steps',
    sessions: 'repeat the same steps',
  };
  return { ...sessionWords(agent, verbs, detail), off: `${agent} goes round in circles no more` };
}

/** @param agent as a sentence begins with it @param left until the first pause expires; null: none does */
export function personWords(agent: string, detail: NoticeDetail, left: string | null): Words {
  const verbs = {
    agent: 'waits for a person',
    session: 'waits for a person',
    sessions: 'wait for a person',
  };
  const count = Number(detail.waiting_session_count);
  const { on, text } = sessionWords(agent, verbs, detail, count);
  const held =
    count === 1
      ? 'What it sends is held until somebody resumes or ends it.'
      : 'What they send is held until somebody resumes or ends them.';
  const [pause, session] =
    count === 1 ? ['its pause', 'the session'] : ['the first of their pauses', 'that session'];
  const end = detail.on_expiry === 'terminate' ? 'is terminated' : 'goes on';
  const unless =
    left === null ? '' : ` Unless somebody does, ${pause} expires in ${left} and ${session} ${end}.`;
  return { on, text: `${text} ${held}${unless}`, off: `${agent} waits for a person no more` };
}

/** With the figures of the newest session; without any after a restart. @param agent as a sentence begins with it */
export function semanticLoopWords(agent: string, detail: NoticeDetail): Words {
  const { occurrence, similarity, threshold, paused, loop_session_count } = detail;
  const does = 'asks the same again';
  const off = `${agent} has stopped asking the same again`;
  if (occurrence === undefined) return { on: `${agent} ${does}`, text: UNHEARD_SINCE_START, off };
  const verbs = { agent: does, session: does, sessions: 'ask the same again' };
  const { on, text } = sessionWords(agent, verbs, detail);
  const isOne = Number(loop_session_count) <= 1;
  const figures =
    `Loop ${occurrence} of ${isOne ? 'this session' : 'the newest'}: ` +
    `similarity ${similarity}, a loop above ${threshold}. ` +
    (paused === true ? 'The session is paused.' : 'The session goes on.');
  return { on, text: isOne ? figures : `${text} ${figures}`, off };
}

function sessionWords(
  agent: string,
  verbs: Verbs,
  detail: NoticeDetail,
  count = Number(detail.loop_session_count),
): Omit<Words, 'off'> {
  const newCount = Number(detail.new_session_count);
  const isMore = newCount > 0 && newCount < count;
  const where = newCount === 1 ? ' in another session' : ` in ${newCount} more sessions`;
  const sessions = looping(verbs, isMore ? newCount : count, namesOf(detail.newest_session_ids));
  return {
    on: `${agent} ${verbs.agent}${isMore ? where : ''}`,
    text: isMore ? `${sessions} In all, ${counted(count)} of its sessions do.` : sessions,
  };
}

const counted = (count: number): string =>
  count < LOOPING_SESSIONS_PER_AGENT_MAX ? String(count) : `at least ${count}`;

const namesOf = (ids: NoticeDetail[string] | undefined): string[] =>
  Array.isArray(ids) ? ids.map((id) => `"${oneLine(id, SESSION_CHARS_MAX)}"`) : [];

function looping({ session, sessions }: Verbs, count: number, newest: readonly string[]): string {
  if (count === 1) return `Session ${newest[0]} ${session}.`;
  if (count <= newest.length) return `Sessions ${listed(newest.slice(0, count))} ${sessions}.`;
  const many = counted(count).replace('at', 'At');
  return `${many} sessions ${sessions}, the newest are ${listed(newest)}.`;
}

/** `a, b and c`. */
const listed = (names: readonly string[]): string => `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
