/** Choices of what there is, as many as are read in a list; what is left out is said. Pure. */
import { formatCount } from './format';
import type { SelectOption } from './select';

/** No name that somebody could choose. */
const REST = '\n';

interface Offer {
  /** First: the choice of none. */
  any: SelectOption<string>;
  values: readonly string[];
  /** Offered whatever its place among the values. */
  chosen: string | undefined;
  countMax: number;
  /** As in "and 12 more, found by the search". */
  elsewhere: string;
}

export function offeredOptions({ any, values, chosen, countMax, elsewhere }: Offer): SelectOption<string>[] {
  const offered = new Set([...(chosen ? [chosen] : []), ...values.slice(0, countMax)]);
  const leftOutCount = values.filter((value) => !offered.has(value)).length;
  return [
    any,
    ...[...offered].map((value) => ({ value, label: value })),
    ...(leftOutCount > 0
      ? [{ value: REST, label: `and ${formatCount(leftOutCount)} more, ${elsewhere}`, disabled: true }]
      : []),
  ];
}
