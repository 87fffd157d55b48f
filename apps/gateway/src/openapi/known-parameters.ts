/**
 * Refuses query parameters the documentation does not list: a misspelt filter would list everything, and a
 * `?preview=true` meant for a body would be done. After the access guard, so that a stranger is told nothing else.
 */
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ObservatoryError, repeatedNames } from '#contracts';
import { type Route, refusesUnknownParameters } from './route.js';

export class KnownParameters implements NestInterceptor {
  /** By method and path as Fastify writes them. */
  readonly #names: ReadonlyMap<string, readonly string[]>;

  constructor(routes: readonly Route[]) {
    this.#names = new Map(
      routes
        .filter(refusesUnknownParameters)
        .map(({ method, path, query }) => [
          `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
          Object.keys(query?.shape ?? {}),
        ]),
    );
  }

  /** @throws ObservatoryError invalid_fields naming each parameter at fault, and those that exist */
  intercept(context: ExecutionContext, next: CallHandler): ReturnType<CallHandler['handle']> {
    const { method, routeOptions, query } = context.switchToHttp().getRequest<FastifyRequest>();
    const names = this.#names.get(`${method === 'HEAD' ? 'GET' : method} ${routeOptions.url}`);
    const unknown = names && Object.keys(query as object).filter((name) => !names.includes(name));
    if (unknown?.length) {
      const fields = repeatedNames(unknown);
      const known = names?.length ? `There are: ${names.join(', ')}` : 'It takes none';
      throw new ObservatoryError('invalid_fields', `${fields.join(', ')}: unknown to this route. ${known}.`, {
        fields,
      });
    }
    return next.handle();
  }
}
