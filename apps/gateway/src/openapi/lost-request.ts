/**
 * A request that no route took. Where its path is one of the documentation's it was the method that is wrong, or a slash at
 * the end too many, and saying so, with the methods there are, spares the caller from looking for a mistake elsewhere.
 */
import { ObservatoryError } from '#contracts';
import type { Route } from './route.js';

export class LostRequests {
  readonly #paths: readonly { pattern: RegExp; methods: readonly string[] }[];

  constructor(routes: readonly Route[]) {
    const paths = [...new Set(routes.map(({ path }) => path))];
    this.#paths = paths.map((path) => ({
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      methods: routes
        .filter((route) => route.path === path)
        // What answers GET answers HEAD.
        .flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()])),
    }));
  }

  /** @param url path and query: neither is repeated in what is said */
  refusal(method: string, url: string): ObservatoryError {
    const path = url.split('?', 1)[0] as string;
    const methods = this.#methodsOf(path);
    if (methods === undefined && this.#methodsOf(path.replace(/\/$/, '')) !== undefined)
      return new ObservatoryError('not_found', 'There is nothing here; leave out the slash at the end.');
    if (methods === undefined || methods.includes(method)) return new ObservatoryError('not_found');
    const detail = `This path takes ${methods.join(', ')}, not ${method}; /docs says what each does.`;
    return new ObservatoryError('method_not_allowed', detail, { allow: methods });
  }

  #methodsOf(path: string): readonly string[] | undefined {
    return this.#paths.find(({ pattern }) => pattern.test(path))?.methods;
  }
}
