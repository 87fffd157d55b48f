/** `/docs`: the OpenAPI document as a page for people, rendered here, without scripts or anything from elsewhere. */
import { DOCS_STYLE } from './docs-style.js';
import { Html, html, NOTHING } from './html.js';
import type { Json, OpenApiDocument } from './openapi.js';
import { fieldsOf, refName, typeOf } from './schema-fields.js';

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  description?: string;
  schema: Json;
}
type Content = Record<string, { schema: Json; example?: unknown }>;
interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  'x-caller': string;
  parameters: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}
interface Listed {
  method: string;
  path: string;
  operation: Operation;
}

const CALLERS: Readonly<Record<string, string>> = {
  anybody: 'anybody',
  agent: 'agent key',
  loopback_or_observe: 'this machine, or an operator who may observe',
};

const callerText = (caller: string): string =>
  CALLERS[caller] ??
  (caller.startsWith('agent_or_')
    ? `agent key, or an operator who may ${caller.slice(9)}`
    : `operator who may ${caller.replace('_', ' ')}`);

export function renderDocs(document: OpenApiDocument): string {
  const listed = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method,
      path,
      operation: operation as unknown as Operation,
    })),
  );
  const serverUrl = document.servers[0]?.url ?? '';
  const { schemas } = document.components;
  const sections = document.tags.map((tag) => ({
    tag,
    routes: listed.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Observatory API</title>
<style>${new Html(DOCS_STYLE)}</style>
</head>
<body>
<nav aria-label="Routes">
<a href="/">Observatory</a>
${sections.map(({ tag, routes }) => html`<h2>${tag.name}</h2>${routes.map(navLink)}`)}
</nav>
<main>
<h1>Observatory API</h1>
<p class="soft">Version ${String(document.info.version)}. The same for machines: <a href="/v1/openapi.json">openapi.json</a>.</p>
<p>Agents send <code>Authorization: Bearer &lt;agent key&gt;</code>. Operators send
<code>Authorization: Bearer &lt;operator token&gt;</code> and, for whatever changes something, name themselves in
<code>X-Observatory-Operator-Id</code>. JSON in, JSON out; every refusal has the shape of <a href="#schema-Error">Error</a>.</p>
${sections.map(
  ({ tag, routes }) =>
    html`<h2>${tag.name}</h2><p class="soft">${tag.description}</p>${routes.map((route) => article(route, serverUrl, schemas))}`,
)}
<h2>Schemas</h2>
${Object.entries(schemas).map(
  ([name, schema]) =>
    html`<article id="${`schema-${name}`}"><h3>${name}</h3>${schemaBody(schema, schemas)}</article>`,
)}
</main>
</body>
</html>
`.text;
}

const navLink = ({ method, operation }: Listed): Html =>
  html`<a href="#${operation.operationId}">${chip(method)}<span>${operation.summary}</span></a>`;

const chip = (method: string): Html => html`<span class="chip ${method}">${method.toUpperCase()}</span>`;

function article(route: Listed, serverUrl: string, schemas: Record<string, Json>): Html {
  const { method, path, operation } = route;
  return html`<article id="${operation.operationId}">
<h3>${chip(method)}<span class="path">${path}</span><span class="caller">${callerText(operation['x-caller'])}</span></h3>
<p><strong>${operation.summary}.</strong> ${operation.description ?? ''}</p>
${operation.parameters.length === 0 ? NOTHING : parameterTable(operation.parameters, schemas)}
${operation.requestBody === undefined ? NOTHING : requestBody(operation.requestBody.content, schemas)}
<h4>Answers</h4>
${table(
  ['status', 'meaning', 'body'],
  Object.entries(operation.responses).map(([status, { description, content }]) => [
    html`<code>${status}</code>`,
    html`${description}`,
    html`${Object.entries(content ?? {}).map(([type, { schema }]) => html`${schemaLink(schema, schemas, type)} `)}`,
  ]),
)}
${Object.entries(operation.responses).map(([status, { content }]) => answerExample(status, content))}
<h4>Try it</h4>
<pre>${curlLine(route, serverUrl)}</pre>
</article>`;
}

const parameterTable = (
  parameters: Parameter[],
  schemas: Record<string, Json>,
): Html => html`<h4>Parameters</h4>
${table(
  ['name', 'in', 'type', ''],
  parameters.map((parameter) => [
    html`<code>${parameter.name}</code>${parameter.required ? html` *` : NOTHING}`,
    html`${parameter.in}`,
    html`${typeOf(parameter.schema, schemas)}`,
    html`${parameter.description ?? ''}${defaultText(parameter.schema)}`,
  ]),
)}`;

const defaultText = (schema: Json): string =>
  schema.default === undefined ? '' : ` Default ${JSON.stringify(schema.default)}.`;

const requestBody = (content: Content, schemas: Record<string, Json>): Html => html`<h4>Body</h4>
<p>${Object.entries(content).map(([type, { schema }]) => html`<code>${type}</code>: ${schemaLink(schema, schemas, 'text')}<br>`)}</p>
${example(Object.values(content)[0]?.example)}`;

const answerExample = (status: string, content: Content | undefined): Html => {
  const given = Object.values(content ?? {})[0]?.example;
  if (given === undefined || Number(status) >= 400) return NOTHING;
  return html`<details><summary>Example of ${status}</summary>${example(given)}</details>`;
};

const example = (value: unknown): Html =>
  value === undefined
    ? NOTHING
    : html`<pre>${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>`;

function schemaLink(schema: Json, schemas: Record<string, Json>, otherwise: string): Html {
  if (typeof schema.$ref === 'string') {
    const name = refName(schema.$ref);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  const union = schema.oneOf as Json[] | undefined;
  if (union !== undefined) return html`${union.map((one) => html`${schemaLink(one, schemas, otherwise)} `)}`;
  return html`<code>${otherwise}</code>`;
}

function schemaBody(schema: Json, schemas: Record<string, Json>): Html {
  const fields = fieldsOf(schema, schemas);
  if (fields.length === 0) return html`<p><code>${typeOf(schema, schemas)}</code></p>`;
  const rows = fields.map((field) => [
    html`<code>${field.path}</code>${field.isRequired ? html` *` : NOTHING}`,
    html`${field.type}`,
    html`${field.description}`,
  ]);
  return html`<details><summary>${rows.length} fields, * required</summary>${table(['field', 'type', ''], rows)}</details>`;
}

const table = (heads: string[], rows: Html[][]): Html => html`<div class="table"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
</table></div>`;

/** A line to paste into a shell; the secrets come from variables. */
function curlLine({ method, path, operation }: Listed, serverUrl: string): string {
  const caller = operation['x-caller'];
  const url = `${serverUrl}${path}${requiredQuery(operation.parameters)}`;
  const parts = [`curl -sS ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}'${url}'`];
  if (caller === 'agent') parts.push('-H "Authorization: Bearer $OBSERVATORY_AGENT_KEY"');
  else if (caller !== 'anybody') parts.push('-H "Authorization: Bearer $OBSERVATORY_OPERATOR_TOKEN"');
  if (operation.parameters.some((parameter) => parameter.in === 'header')) {
    parts.push("-H 'X-Observatory-Operator-Id: ada'");
  }
  const body = operation.requestBody?.content['application/json']?.example;
  if (body !== undefined) {
    parts.push(
      "-H 'Content-Type: application/json'",
      `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
    );
  }
  return parts.join(' \\\n  ');
}

/** Without these it would be refused: of a choice the first, else the parameter's name in braces, as in a path. */
function requiredQuery(parameters: readonly Parameter[]): string {
  const given = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, schema }) => `${name}=${(schema.enum as string[] | undefined)?.[0] ?? `{${name}}`}`);
  return given.length === 0 ? '' : `?${given.join('&')}`;
}
