import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { Documentation, VERSION } from './documentation.js';
import type { Json } from './openapi.js';
import { ROUTES } from './routes.js';
import { SCHEMAS } from './schemas.js';

const documentation = new Documentation({ serverUrl: () => 'http://localhost:4000' });
const document = documentation.document();
const text = JSON.stringify(document);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
);

/** Of each kind, blank, and at and beyond the bounds that texts and lists have. */
const ODD = [
  null,
  true,
  ...[-1, 0, 0.5, 1, 5, 10, 1e9, 1e300],
  ...['', ' ', '\n', 'x', '.', '\u202e', 'x\ud800', 'true', '1'],
  ...[16, 100, 200, 256, 500, 4_096, 65_536]
    .flatMap((count) => [count, count + 1])
    .map((count) => 'x'.repeat(count)),
  {},
  { x: 1 },
  [],
  [7],
  ['x'],
  [' '],
  Array(101).fill('x'),
];

const fieldNames = (schema: z.ZodType): string[] => {
  const { def } = schema as unknown as { def: { shape?: object; options?: z.ZodType[] } };
  return [...Object.keys(def.shape ?? {}), ...(def.options ?? []).flatMap(fieldNames), 'unknown'];
};

describe('the OpenAPI document', () => {
  it('refers to nothing that is not in it', () => {
    const refs = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] as string));
    expect(refs.size).toBeGreaterThan(20);
    for (const ref of refs) {
      const found = ref
        .split('/')
        .slice(1)
        .reduce((at: Json | undefined, part) => at?.[part] as Json, document as never);
      expect(found, ref).toBeTypeOf('object');
    }
  });

  it('holds every route once, under an id of its own', () => {
    expect(operations).toHaveLength(ROUTES.length);
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(ROUTES.length);
  });

  it.each(operations)(
    '$name has answers, each described, and a parameter per name in its path',
    ({ path, operation }) => {
      const responses = Object.entries(operation.responses as Record<string, Json>);
      expect(responses.some(([status]) => status.startsWith('2'))).toBe(true);
      for (const [status, response] of responses) {
        expect(status).toMatch(/^[2-5]\d\d$/);
        expect(response.description).toBeTruthy();
      }
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const parameters = operation.parameters as { name: string; in: string; required: boolean }[];
      expect(parameters.filter((one) => one.in === 'path' && one.required).map((one) => one.name)).toEqual(
        inPath,
      );
    },
  );

  it('says of every answer in JSON what is in it', () => {
    const undescribed = ROUTES.flatMap(({ method, path, answers }) =>
      Object.entries(answers).flatMap(([status, { schema, mediaType }]) =>
        status === '204' || schema !== undefined || mediaType !== undefined
          ? []
          : [`${method} ${path} ${status}`],
      ),
    );
    expect(undescribed).toEqual([]);
  });

  it('says which names an upstream may have', () => {
    const { put } = document.paths['/v1/upstreams/{name}'] as { put: Json };
    const [name] = put.parameters as [{ schema: { pattern: string } }];
    const pattern = new RegExp(name.schema.pattern);
    const names = ['my-model-2', '', ' ', 'Mine', '-mine'];
    expect(names.filter((name) => pattern.test(name))).toEqual(['my-model-2']);
  });

  it('says of each parameter what is taken where it is left out', () => {
    const said = operations.flatMap(({ name, operation }) =>
      (operation.parameters as { name: string; schema: Json }[]).map((one) => [
        `${name} ${one.name}`,
        one.schema.default,
      ]),
    );
    const taken = ROUTES.flatMap(({ method, path, query }) =>
      Object.entries((query?.shape ?? {}) as Record<string, z.ZodType>).map(([name, field]) => [
        `${method} ${path} ${name}`,
        field.safeParse(undefined).data,
      ]),
    );
    expect(said).toEqual(expect.arrayContaining(taken));
    expect(taken).toContainEqual(['get /v1/calls limit', 50]);
  });

  const bodies = ROUTES.flatMap(({ method, path, body }) => {
    const [schema] = Object.values(body?.content ?? {});
    return body && schema ? [{ name: `${method} ${path}`, schema, example: body.example as Json }] : [];
  });
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema({
    ...document,
    $id: 'openapi',
  });
  const namesOf = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [schema, name]));

  it.each(bodies)('takes of each field of $name what is taken', ({ schema, example }) => {
    const isDocumented = ajv.compile({ $ref: `openapi#/components/schemas/${namesOf.get(schema)}` });
    for (const field of fieldNames(schema))
      for (const value of ODD) {
        const sent = { ...example, [field]: value };
        const isTaken = schema.safeParse(sent).success;
        expect(isDocumented(sent), `${field}: ${JSON.stringify(value).slice(0, 60)}`).toBe(isTaken);
      }
  });

  it('gives only examples that its schemas take', () => {
    let count = 0;
    for (const { path, tag: _, body, answers } of ROUTES) {
      const shape = body?.content['application/json'];
      const pairs = [
        ...(body && shape ? [[shape, body.example] as const] : []),
        ...Object.values(answers).flatMap((answer) =>
          answer.schema && answer.example ? [[answer.schema, answer.example] as const] : [],
        ),
      ];
      for (const [schema, example] of pairs) {
        expect(schema.safeParse(example).error, path).toBeUndefined();
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(20);
  });

  it('says of ingest what the contract says: three kinds of body, and every way it can end', () => {
    const ingest = document.paths['/v1/decision-logs']?.post as Json;
    const { content } = ingest.requestBody as { content: Record<string, { schema: Json }> };
    expect(Object.keys(content)).toEqual(['application/json', 'application/x-ndjson']);
    expect(content['application/json']?.schema.oneOf).toHaveLength(2);
    const statuses = ['202', '207', '400', '401', '408', '413', '415', '422', '429', '503'];
    expect(Object.keys(ingest.responses as Json).sort()).toEqual(statuses);
  });

  it('says of each command that it may have to wait, for a place under control or for the store', () => {
    for (const command of ['pause', 'resume', 'inject', 'rewrite', 'terminate']) {
      const { post } = document.paths[`/v1/sessions/{session_id}/${command}`] as { post: Json };
      expect((post.responses as Record<string, Json>)['503']?.description, command).toContain('store_busy');
    }
  });

  it('says of what reads the store that it may be busy, and of what an operator changes that the disk may be full', () => {
    const reasons = (path: string, method: 'get' | 'patch'): unknown => {
      const route = document.paths[path] as Record<string, { responses: Record<string, Json> }>;
      return route[method]?.responses['503']?.description;
    };
    expect(reasons('/v1/calls', 'get')).toMatch(/^store_busy: /);
    expect(reasons('/v1/audit/export', 'get')).toMatch(/^store_busy: /);
    expect(reasons('/v1/config', 'patch')).toContain('store_full: ');
    expect(reasons('/v1/config', 'get')).toBeUndefined();
  });

  it('carries the version of package.json', () => {
    const manifest = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));
    expect(VERSION).toBe(manifest.version);
  });
});

describe('the page', () => {
  const page = documentation.page();

  it('needs nothing from elsewhere and runs no script', () => {
    expect(page).not.toMatch(/<script|<link|\ssrc=|@import|url\(|\son\w+=/i);
  });

  it('links only to what is on it', () => {
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]));
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map((match) => match[1]);
    expect(targets.length).toBeGreaterThan(ROUTES.length);
    expect(targets.filter((target) => !ids.has(target))).toEqual([]);
  });

  it('shows every route with a line for the shell', () => {
    for (const { path } of ROUTES) expect(page).toContain(path);
    expect(page.match(/curl -sS/g)).toHaveLength(ROUTES.length);
    expect(page, 'with what it may not lack').toContain('/v1/spend?group=agent&#39;');
    expect(page).toContain('-X PATCH');
  });

  it('escapes what it shows', () => {
    expect(page).toContain('&lt;agent key&gt;');
  });
});
