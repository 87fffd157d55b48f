/**
 * What a view of this gateway's run alone (the map, the stream) says while it is empty: where sessions are known, they are from
 * before its start, and nobody has to be shown how to send a first one.
 */
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTopic } from '../realtime';
import { EmptyState } from '../ui';
import { TextLink } from './text-link';

/** In place of a number or a time that such a view has not. */
export const NONE_SINCE_START = 'none since the gateway’s start';

/** The same where there is no room for words. @param of what there is none of, "Steps" */
export const NoneYet = ({ of, text = NONE_SINCE_START }: { of: string; text?: string }) => (
  <span role="img" aria-label={text} title={`${of}: ${text}`}>
    –
  </span>
);

interface BegunAnewProps {
  icon: LucideIcon;
  title: string;
  /** What would be here. */
  children: string;
  /** Where nothing is known at all. */
  action?: ReactNode;
  className?: string;
}

export function BegunAnew({ icon: Icon, title, children, action, className }: BegunAnewProps) {
  const { data: sessions } = useTopic('gateway:sessions');
  const hasEarlier = (sessions?.size ?? 0) > 0;
  return (
    <EmptyState
      icon={<Icon size={28} aria-hidden="true" />}
      title={hasEarlier ? `${title} since the gateway’s start` : title}
      action={hasEarlier ? <TextLink to="/">See the sessions</TextLink> : action}
      {...(className && { className })}
    >
      {hasEarlier ? 'What came before is among the sessions. ' : null}
      {children}
    </EmptyState>
  );
}
