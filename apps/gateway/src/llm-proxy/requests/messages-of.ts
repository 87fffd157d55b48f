/** Where the wire formats keep a conversation's messages. */
const MESSAGE_LISTS = ['messages', 'contents', 'input'];

/** Undefined where the body holds no list of them. */
export function messagesOf(body: unknown): { name: string; list: readonly unknown[] } | undefined {
  const fields = body as Record<string, unknown> | null;
  const name = MESSAGE_LISTS.find((one) => Array.isArray(fields?.[one]));
  return name === undefined ? undefined : { name, list: fields?.[name] as unknown[] };
}
