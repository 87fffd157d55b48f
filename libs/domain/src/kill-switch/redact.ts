/**
 * Masks what an incident must not keep: addresses, keys, tokens, card numbers. Errs towards masking: a reader of an
 * incident misses a word, a reader of a leak has a key. Patterns are by prefix and shape, so a password in plain words
 * stays; whoever needs more keeps prompts out of incidents altogether.
 */
import { wholeEnd } from '#kernel';

interface Rule {
  /** Text without any of these has nothing to mask: a plain search settles nearly every text. */
  hints: readonly string[];
  pattern: RegExp;
  mask: string;
}

/** A secret that was cut off after fewer characters than this is no use to anyone. */
const RULES: readonly Rule[] = [
  {
    hints: ['-----BEGIN '],
    pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    mask: '[private key]',
  },
  // Three parts in base64url, the first two being JSON objects; cut off, perhaps only the first.
  { hints: ['eyJ'], pattern: /\beyJ[\w-]{8,}(?:\.[\w-]*){0,4}/g, mask: '[token]' },
  // In any case, so no plain search finds it.
  { hints: [''], pattern: /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, mask: '$1 [token]' },
  // Ours; OpenAI, Anthropic, OpenRouter, Stripe; GitHub; GitLab; Slack; Google; AWS; Hugging Face; Groq; xAI; npm.
  {
    hints: ['_', '-'],
    pattern:
      /\b(?:obs_(?:agent|op)_|sk[-_]|pk_live_|rk_live_|gh[opusr]_|github_pat_|glpat-|xox[abeoprs]-|hf_|gsk_|xai-|npm_)[\w-]{8,}/g,
    mask: '[key]',
  },
  { hints: ['AIza'], pattern: /\bAIza[\w-]{8,}/g, mask: '[key]' },
  { hints: ['ya29.'], pattern: /\bya29\.[\w-]{8,}/g, mask: '[key]' },
  {
    hints: ['AKIA', 'ASIA', 'AROA', 'AIDA'],
    pattern: /\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{8,}/g,
    mask: '[key]',
  },
  // A value beside a name that says what it is, also in JSON that is a text of other JSON.
  {
    hints: [':', '='],
    pattern:
      /(["']?(?<![a-z0-9])(?:api[_-]?key|secret|(?:secret|private)[_-]?(?:access[_-]?)?key|password|passwd|access[_-]?token|auth[_-]?token|client[_-]?secret)\\*["']?\s*[:=]\s*\\*["']?)(?:[^\s"',;&\\]|\\(?!["'])){4,}/gi,
    mask: '$1[secret]',
  },
  { hints: ['@'], pattern: /(\/\/[^\s/:@]{0,100}:)[^\s/@]{1,200}@/g, mask: '$1[secret]@' },
  { hints: ['@'], pattern: /[\w.%+-]{1,100}@[\w-]{1,100}(?:\.[\w-]{1,100}){0,8}/g, mask: '[e-mail]' },
];

/** What is known for a secret by its end alone, a password in an address, is shorter. */
export const READ_BEYOND_CHARS = 320;

/** 13 to 19 digits, alone or in groups. */
const CARD = /(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\d)/g;
const CARD_GROUPS = /^\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}$|^\d{4}([ -])\d{6}\2\d{5}$/;

/** Pure, never throws; linear in the text for what is kept of one. */
export function redact(text: string): string {
  let masked = text;
  for (const { hints, pattern, mask } of RULES)
    if (hints.some((hint) => masked.includes(hint))) masked = masked.replace(pattern, mask);
  return masked.replace(CARD, (number) => (isCard(number) ? '[card]' : number));
}

/** The beginning of a text, redacted: up to what lies across the cut and is a secret with what comes behind it. */
export function redactedStart(text: string, charsMax: number): string {
  const start = redact(text.slice(0, charsMax));
  const further = text.length > charsMax ? redact(text.slice(0, charsMax + READ_BEYOND_CHARS)) : start;
  let end = 0;
  while (end < Math.min(charsMax, start.length) && start[end] === further[end]) end += 1;
  return start.slice(0, wholeEnd(further, end));
}

/** Grouped as cards are, or with a card's check digit, which one in ten other numbers has by chance. */
function isCard(number: string): boolean {
  if (CARD_GROUPS.test(number)) return true;
  const digits = [...number.replace(/\D/g, '')].map(Number).reverse();
  const sum = digits.reduce((total, digit, index) => {
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}
