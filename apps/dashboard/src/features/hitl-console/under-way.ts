/** The commands to one session that are on their way: several at once, in whichever order they are answered. Pure. */
import type { Command } from '#contracts';

export type UnderWay = readonly Command[];

export const begun = (underWay: UnderWay, command: Command): UnderWay => [...underWay, command];

/** One of them; those beside it are on their way still, and none of theirs is sent twice. */
export const ended = (underWay: UnderWay, command: Command): UnderWay =>
  underWay.filter((_, at) => at !== underWay.indexOf(command));
