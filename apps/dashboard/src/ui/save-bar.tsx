/** Below a form: how much of it is not saved, and the buttons that take it back or send it. */
import type { ReactNode } from 'react';
import { Button } from './button';
import { cx } from './cx';

interface SaveBarProps {
  changeCount: number;
  /** Said while nothing is unsaved. */
  idleText?: string;
  /** Of the button that submits the form. */
  label: string;
  testId: string;
  isPending: boolean;
  denial: string | null;
  onDiscard: () => void;
  /** Where it stands; at the foot of the page unless given. */
  className?: string;
  /** Beside the count. */
  children?: ReactNode;
}

const PAGE_FOOT = 'sticky bottom-0 -mx-4 border-line border-t bg-canvas px-4 py-3';

export function SaveBar(props: SaveBarProps) {
  const { changeCount, idleText = 'Everything is saved.', isPending, className = PAGE_FOOT } = props;
  return (
    <div className={cx('flex items-center gap-2', className)}>
      <p role="status" className="mr-auto text-muted text-xs">
        {changeCount === 0 ? idleText : `${changeCount} unsaved`}
        {props.children}
      </p>
      {changeCount > 0 ? (
        <Button disabled={isPending} onClick={props.onDiscard}>
          Discard
        </Button>
      ) : null}
      <Button
        type="submit"
        variant="primary"
        data-testid={props.testId}
        busy={isPending}
        disabled={changeCount === 0}
        disabledReason={props.denial}
      >
        {props.label}
      </Button>
    </div>
  );
}
