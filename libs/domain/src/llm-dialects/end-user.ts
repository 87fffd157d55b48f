import { asName, type JsonRecord } from './read-json.js';

/**
 * For whom an OpenAI request is made: the newer name first. Where nobody is named, what the vendor has clients keep requests
 * together by, such as one run of a coding agent.
 */
export const endUser = ({ safety_identifier, user, prompt_cache_key }: JsonRecord): string | null =>
  asName(safety_identifier) ?? asName(user) ?? asName(prompt_cache_key);
