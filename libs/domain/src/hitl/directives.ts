/**
 * The directives waiting for one agent: ascending by seq, bounded, and never in the way of a stop.
 *
 *     pause | resume   replaces a waiting pause or resume: only the latest of them means anything
 *     terminate        replaces everything: nothing after it is of use
 *     inject, rewrite  are kept; one place of the bound stays free for the three above
 */
import { type ControlRow, type Directive, type HitlCommand, LIMITS } from '#contracts';

/** Who issues a directive, when, and under which id. */
export interface DirectiveContext {
  /** Who commands; `system` for the gateway itself. */
  operatorId: string;
  nowMs: number;
  /** Id of the directive, should one be issued. */
  directiveId: string;
}

const isSwitch = (type: Directive['type']): boolean => type === 'pause' || type === 'resume';

/** The columns of the row after the directive was issued, or why it can't be. Never refuses pause, resume, terminate. */
export function issueDirective(
  control: ControlRow,
  command: HitlCommand,
  context: DirectiveContext,
): { row: Pick<ControlRow, 'directive_seq' | 'directives'>; directive: Directive } | 'too_many_directives' {
  const kept = control.directives.filter(({ type }) => !supersedes(command.command, type));
  const isContent = command.command === 'inject' || command.command === 'rewrite';
  const contentCount = kept.filter(({ type }) => !isSwitch(type)).length;
  if (isContent && contentCount >= LIMITS.directivesPerSessionMax - 1) return 'too_many_directives';
  const { command: type, ...content } = command;
  const directive: Directive = {
    directive_id: context.directiveId,
    seq: control.directive_seq + 1,
    type,
    issued_at_ms: context.nowMs,
    operator_id: context.operatorId,
    ...content,
  };
  return { row: { directive_seq: directive.seq, directives: [...kept, directive] }, directive };
}

/** Whether a new directive makes a waiting one of type `waiting` pointless. */
export function supersedes(command: HitlCommand['command'], waiting: Directive['type']): boolean {
  return command === 'terminate' || (isSwitch(command) && isSwitch(waiting));
}
