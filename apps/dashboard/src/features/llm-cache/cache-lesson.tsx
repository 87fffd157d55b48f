/** What the cache does and how a call stays out of it: for a page with nothing to show yet, and below one that has. */
import type { ReactNode } from 'react';
import { Panel } from '../../ui';

const Header = ({ value }: { value: string }) => (
  <code className="rounded border border-line bg-sunken px-1 py-px font-mono text-2xs whitespace-nowrap">
    x-observatory-cache: {value}
  </code>
);

const POINTS: readonly { title: string; text: ReactNode }[] = [
  {
    title: 'What is served',
    text: 'The same request, word for word, within the hour: same model, messages, tools and settings. It comes back in the caller’s own dialect, streaming or not, marked as cached, at no cost.',
  },
  {
    title: 'What is never kept',
    text: 'Errors, answers that were cut off or filtered, answers to calls that carried our own words, and anything whose replay would lose something. In doubt it is a miss.',
  },
  {
    title: 'How a call decides for itself',
    text: (
      <>
        <Header value="bypass" /> stays out of the cache. <Header value="refresh" /> asks anew and keeps the
        answer. <Header value="only" /> never asks the upstream.
      </>
    ),
  },
  {
    title: 'How an agent is kept out',
    text: 'Its policy says On, Exact only or Off, on the agent’s page.',
  },
];

export function CacheLesson() {
  return (
    <Panel title="How it works">
      <dl className="grid grid-cols-2 gap-x-8 gap-y-3 max-md:grid-cols-1">
        {POINTS.map(({ title, text }) => (
          <div key={title}>
            <dt className="font-medium">{title}</dt>
            <dd className="text-muted text-xs leading-[18px]">{text}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
