/** HTML text that is safe by construction: whatever is put into a template is escaped unless it is HTML already. */
export class Html {
  constructor(readonly text: string) {}
}

type Value = Html | string | number | readonly Html[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const render = (value: Value): string => {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(render).join('');
  return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
};

/** Template tag. */
export const html = (strings: TemplateStringsArray, ...values: Value[]): Html =>
  new Html(
    strings
      .map((part, index) => part + (index < values.length ? render(values[index] as Value) : ''))
      .join(''),
  );

export const NOTHING = new Html('');
