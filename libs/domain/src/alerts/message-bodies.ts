/** A notice as each kind of channel wants it. */
import type { AlertNotice } from '#contracts';
import { oneLine } from '#kernel';

const SUBJECT_CHARS_MAX = 180;

/**
 * What Slack reads as markup; and what compatible servers read in plain text: `@all`, `@here`, and `[text](address)`, a link that
 * hides where it leads or a picture that is fetched.
 */
const slackText = (text: string): string =>
  text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/@/g, '@\u200b')
    .replace(/\](?=[([])/g, ']\u200b');

/** When it was so: a notice may arrive hours later. */
const isoTime = ({ at_ms }: AlertNotice): string => new Date(at_ms).toISOString();

/** For Slack and what is compatible with its incoming webhooks (Mattermost, Rocket.Chat, Discord's `/slack`). */
export function slackBody(notice: AlertNotice): { text: string } {
  const link = notice.url === null ? [] : [`<${notice.url}|Open in Observatory>`];
  const said = slackText([oneLine(notice.rule_name), notice.tenant_id, isoTime(notice)].join(', '));
  return { text: [`*${slackText(notice.title)}*`, slackText(notice.text), said, ...link].join('\n') };
}

export interface Mail {
  /** One line. */
  subject: string;
  text: string;
}

export function mailOf(notice: AlertNotice): Mail {
  const lines = [
    notice.title,
    '',
    notice.text,
    '',
    `Agent:   ${notice.agent_id === null ? 'all together' : oneLine(notice.agent_id, 256)}`,
    ...(notice.session_id === null ? [] : [`Session: ${oneLine(notice.session_id, 256)}`]),
    `Rule:    ${oneLine(notice.rule_name)}`,
    `Tenant:  ${notice.tenant_id}`,
    `Time:    ${isoTime(notice)}`,
    ...(notice.url === null ? [] : ['', notice.url]),
  ];
  return {
    subject: oneLine(`[Observatory] ${notice.title}`, SUBJECT_CHARS_MAX),
    text: `${lines.join('\n')}\n`,
  };
}
