import { asName, type JsonRecord } from './read-json.js';

/** For whom an OpenAI request is made: the newer name first. */
export const endUser = ({ safety_identifier, user }: JsonRecord): string | null =>
  asName(safety_identifier) ?? asName(user);
