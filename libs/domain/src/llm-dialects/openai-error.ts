/** OpenAI's error object, which Chat Completions and Responses share. */
import type { ErrorToWrite } from './dialect.js';

export interface OpenaiError {
  message: string;
  type: string;
  code: string;
  param: null;
}

export const openaiError = (error: ErrorToWrite): OpenaiError => ({
  message: error.message,
  type: errorType(error.status),
  code: error.code,
  param: null,
});

function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
