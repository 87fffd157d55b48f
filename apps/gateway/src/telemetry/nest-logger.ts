/** Nest's own messages in our log; what it says about routes and modules at each start only at `debug`. */
import type { LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';

/** Speakers of errors that Nest throws as well, and that whoever started it tells in words. */
const THROWN_AS_WELL = ['ExceptionHandler', 'NestApplication'];

export class NestLogger implements LoggerService {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.#write('debug', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.#write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.#write('trace', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.#write('warn', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.#write(THROWN_AS_WELL.includes(String(rest.at(-1))) ? 'debug' : 'error', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.#write('fatal', message, rest);
  }

  /** Nest appends a stack, where there is one, and then the name of its speaker. */
  #write(level: 'trace' | 'debug' | 'warn' | 'error' | 'fatal', message: unknown, rest: unknown[]): void {
    const texts = rest.filter((part) => typeof part === 'string');
    const context = texts.at(-1);
    const stack = texts.length > 1 ? texts[0] : undefined;
    if (message instanceof Error) this.#logger[level]({ err: message, context }, message.message);
    else
      this.#logger[level](
        { context, stack },
        typeof message === 'string' ? message : JSON.stringify(message),
      );
  }
}
