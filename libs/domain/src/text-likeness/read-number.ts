/** Runs of characters with a digit in them: numbers with or without a unit, dates, times, ids. */
import { lookUp } from './lexicon.js';

export interface NumberRun {
  /** Digits in canonical spelling, or the whole of an id. */
  digits: string;
  unit: string;
  /** It is not a plain number: units and scales do not attach to it. */
  isId: boolean;
  isDate: boolean;
}

const CURRENCIES = '$€£¥₹₽₩';
const PLAIN = /^[+-]?\d*\.?\d+$/;
const GROUPED = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
const WITH_SUFFIX = /^([+-]?\d[\d,]*(?:\.\d+)?)-?([a-z°]+|%)$/;
const ISO_DATE = /^\d{4}-\d{1,2}-\d{1,2}(?:t[\d:.]+(?:z|[+-][\d:]+)?)?$/;
const SLASH_DATE = /^\d{1,4}[/.]\d{1,2}[/.]\d{1,4}$/;
const TIME = /^\d{1,2}(?::\d{2}){1,2}(?:\.\d+)?(?:am|pm|z)?$/;
const ORDINAL = /^(\d+)(?:st|nd|rd|th)$/;
const YEAR = /^(?:19|20)\d\d$/;
/** Mega, where m is milli, and bits, where B is bytes. Every other unit may be written in whatever case. */
const TOLD_BY_CASE = /^(?:M(?:Wh?|g|m|V|A|J|Pa|l|L)|[KMGT]b|[KMGT]Bps)$/;

const id = (key: string, isDate = false): NumberRun => ({ digits: key, unit: '', isId: true, isDate });

/** As written where letter case alone tells the unit from another one, else in lower case. */
export const spelledUnit = (unit: string): string => (TOLD_BY_CASE.test(unit) ? unit : unit.toLowerCase());

/** Without signs of grouping, and zeros that say nothing: 1,000 and 007. */
function canonicalDigits(digits: string): string {
  const plain = digits.replaceAll(',', '').replace(/^\+/, '');
  return /^-?0+\d/.test(plain) ? plain.replace(/^(-?)0+(?=\d)/, '$1') : plain;
}

/** @param text in lower case but for a unit that its case tells apart, at most a few dozen characters: its patterns may look twice at each */
export function readNumber(text: string): NumberRun {
  let rest = text.charCodeAt(0) === 35 ? text.slice(1) : text;
  let unit = '';
  if (CURRENCIES.includes(rest.charAt(0))) {
    unit = rest.charAt(0);
    rest = rest.slice(1);
  } else if (CURRENCIES.includes(rest.charAt(rest.length - 1))) {
    unit = rest.charAt(rest.length - 1);
    rest = rest.slice(0, -1);
  }
  if (PLAIN.test(rest) || GROUPED.test(rest))
    return { digits: canonicalDigits(rest), unit, isId: false, isDate: unit === '' && YEAR.test(rest) };
  const suffixed = WITH_SUFFIX.exec(rest);
  if (suffixed !== null) {
    const [, digits = '', suffix = ''] = suffixed;
    if (suffix === 'am' || suffix === 'pm') return id(`${Number(digits)}${suffix}`, true);
    if (suffix === 'k')
      return { digits: canonicalDigits(`${digits}000`), unit, isId: digits.includes('.'), isDate: false };
    const known = suffix === '%' ? '%' : lookUp(suffix)?.unit;
    if (known !== undefined)
      return { digits: canonicalDigits(digits), unit: known, isId: false, isDate: false };
    const ordinal = ORDINAL.exec(rest);
    if (ordinal !== null) return id(`#${ordinal[1]}`);
  }
  if (ISO_DATE.test(rest) || SLASH_DATE.test(rest)) return id(rest, true);
  if (TIME.test(rest)) return id(rest.replace(/^0(?=\d:)/, ''), true);
  return id(/^v\d/.test(rest) ? rest.slice(1) : rest);
}
