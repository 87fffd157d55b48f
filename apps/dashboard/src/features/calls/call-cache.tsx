/** How the cache answered a call: which match, how old, how alike, and what that saved. */
import { Link } from '@tanstack/react-router';
import type { CallCache } from '#contracts';
import { formatCost } from '../../ui';
import { formatAgeS, formatCosine } from './cache-texts';

export function CallCacheFacts({ cache }: { cache: CallCache }) {
  const { match, age_s, cosine, saved_usd } = cache;
  const facts: [string, string][] = [
    ['Match', match === 'exact' ? 'the same request' : 'a question of the same meaning'],
    ['Answered', `${formatAgeS(age_s)} before`],
    ...(cosine === null ? [] : [['Cosine', formatCosine(cosine)] as [string, string]]),
    ['Saved', saved_usd === null ? 'unknown, the model has no price' : formatCost(saved_usd)],
  ];
  return (
    <>
      <dl data-testid="call-cache" className="nums grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1 text-xs">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className={name === 'Saved' && saved_usd !== null ? 'font-medium text-success' : undefined}>
              {value}
            </dd>
          </div>
        ))}
      </dl>
      {match === 'semantic' ? (
        <p className="mt-1.5 text-muted text-xs">
          Was it the right answer?{' '}
          <Link to="/cache" className="font-medium text-accent hover:underline">
            Judge it among the semantic matches
          </Link>
        </p>
      ) : null}
    </>
  );
}
