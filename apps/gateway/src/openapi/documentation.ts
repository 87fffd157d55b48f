/** The API's documentation, built once, when first asked for. */
import { renderDocs } from './docs-page.js';
import { buildOpenApi, type OpenApiDocument } from './openapi.js';

export const DOCUMENTATION = Symbol('Documentation');

/** Of package.json; a test keeps them equal. */
export const VERSION = '0.1.0';

export class Documentation {
  readonly #serverUrl: () => string;
  #document: OpenApiDocument | undefined;
  #page: string | undefined;

  /** @param options.serverUrl origin under which the gateway is reached; asked with the first request, when the port is known */
  constructor(options: { serverUrl: () => string }) {
    this.#serverUrl = options.serverUrl;
  }

  document(): OpenApiDocument {
    this.#document ??= buildOpenApi({ serverUrl: this.#serverUrl(), version: VERSION });
    return this.#document;
  }

  /** HTML. */
  page(): string {
    this.#page ??= renderDocs(this.document());
    return this.#page;
  }
}
