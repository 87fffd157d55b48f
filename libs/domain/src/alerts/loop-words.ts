/** A notice of looping sessions in words: those of which nobody heard by name, and how many there are in all. */
import { LOOPING_SESSIONS_PER_AGENT_MAX } from './agent-facts.js';
import { oneLine } from './one-line.js';
import type { NoticeDetail } from './rule-condition.js';

const SESSION_CHARS_MAX = 60;

/** @param agent as a sentence begins with it */
export function loopWords(agent: string, detail: NoticeDetail): { on: string; text: string; off: string } {
  const count = Number(detail.loop_session_count);
  const newCount = Number(detail.new_session_count);
  const isMore = newCount > 0 && newCount < count;
  const where = newCount === 1 ? ' in another session' : ` in ${newCount} more sessions`;
  const sessions = repeating(isMore ? newCount : count, namesOf(detail.newest_session_ids));
  return {
    on: `${agent} is going round in circles${isMore ? where : ''}`,
    text: isMore ? `${sessions} In all, ${counted(count)} of its sessions do.` : sessions,
    off: `${agent} goes round in circles no more`,
  };
}

const counted = (count: number): string =>
  count < LOOPING_SESSIONS_PER_AGENT_MAX ? String(count) : `at least ${count}`;

const namesOf = (ids: NoticeDetail[string] | undefined): string[] =>
  Array.isArray(ids) ? ids.map((id) => `"${oneLine(id, SESSION_CHARS_MAX)}"`) : [];

function repeating(count: number, newest: readonly string[]): string {
  if (count === 1) return `Session ${newest[0]} repeats the same steps.`;
  if (count <= newest.length) return `Sessions ${listed(newest.slice(0, count))} repeat the same steps.`;
  const many = counted(count).replace('at', 'At');
  return `${many} sessions repeat the same steps, the newest are ${listed(newest)}.`;
}

/** `a, b and c`. */
const listed = (names: readonly string[]): string => `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
