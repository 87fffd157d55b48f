export { decideVeto, VETO_TEXT_CHARS_MAX, type VetoOptions } from './decide-veto.js';
