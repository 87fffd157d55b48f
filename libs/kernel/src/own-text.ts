/**
 * The same text in one piece of its own. One that was put together from parts drags the parts along and is compared
 * piecemeal; one that was cut out of another keeps the whole other one.
 */
export const ownText = <T extends string>(text: T): T => JSON.parse(JSON.stringify(text));
