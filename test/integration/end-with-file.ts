/**
 * What a test has left running, because it went red or out of time before it could end it, ends with its file: the
 * file's own hooks come first, and whether they succeed is all the same.
 */
const endings: (() => unknown)[] = [];

/** @param end to be called once the file's last hook is over; also where it was ended before */
export const endWithFile = (end: () => unknown): void => void endings.push(end);

/** The last that was begun is the first that ends. */
export async function endAll(): Promise<void> {
  for (const end of endings.splice(0).reverse()) await end();
}
