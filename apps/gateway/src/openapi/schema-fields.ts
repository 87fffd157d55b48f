/** A JSON schema as the flat list of its fields, for a table. */
import type { Json } from './openapi.js';

export interface Field {
  /** Dotted; `[]` for the elements of an array. */
  path: string;
  type: string;
  isRequired: boolean;
  description: string;
}

/** Deeper members are left to the named schema they belong to. */
const DEPTH_MAX = 3;

type Schemas = Record<string, Json>;

/** Fields of an object, with those of the objects inside it. */
export function fieldsOf(schema: Json, schemas: Schemas, prefix = '', depth = 0): Field[] {
  const { properties, required } = resolve(withoutNull(schema), schemas) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  if (properties === undefined || depth >= DEPTH_MAX) return [];
  return Object.entries(properties).flatMap(([name, member]) => {
    const path = prefix + name;
    const field = {
      path,
      type: typeOf(member, schemas),
      isRequired: required?.includes(name) ?? false,
      description: String(member.description ?? ''),
    };
    const inner = resolve(withoutNull(member), schemas);
    const isList = inner.type === 'array';
    const nested = isList ? (inner.items as Json) : inner;
    return [field, ...fieldsOf(nested, schemas, isList ? `${path}[].` : `${path}.`, depth + 1)];
  });
}

/** Type and bounds in a few words, such as `string, 1 to 256` or `"normal" | "warning"`. */
export function typeOf(schema: Json, schemas: Schemas): string {
  if (typeof schema.$ref === 'string') return refName(schema.$ref);
  const union = (schema.anyOf ?? schema.oneOf) as Json[] | undefined;
  if (union !== undefined) return [...new Set(union.map((one) => typeOf(one, schemas)))].join(' | ');
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.type === 'array') return `${typeOf((schema.items ?? {}) as Json, schemas)}[]`;
  const type = Array.isArray(schema.type) ? schema.type.join(' | ') : String(schema.type ?? 'anything');
  return `${type}${boundsOf(schema)}`;
}

function boundsOf(schema: Json): string {
  const least = schema.minLength ?? schema.minimum;
  const given = schema.maxLength ?? schema.maximum;
  const most = given === Number.MAX_SAFE_INTEGER ? undefined : given;
  const from = least === Number.MIN_SAFE_INTEGER ? undefined : least;
  if (from !== undefined && most !== undefined) return `, ${from} to ${most}`;
  if (most !== undefined) return `, at most ${most}`;
  return from === undefined ? '' : `, at least ${from}`;
}

export const refName = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

function resolve(schema: Json, schemas: Schemas): Json {
  return typeof schema.$ref === 'string' ? (schemas[refName(schema.$ref)] ?? {}) : schema;
}

/** The one alternative of a schema that is not `null`; a real union stays as it is. */
function withoutNull(schema: Json): Json {
  const others = (schema.anyOf as Json[] | undefined)?.filter((one) => one.type !== 'null');
  return others?.length === 1 ? (others[0] as Json) : schema;
}
