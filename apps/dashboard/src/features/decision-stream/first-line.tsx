/** What the stream shows before anything ever came: what it is, and how its first line gets there. */
import { TextLink } from '../../app/text-link';
import { FirstLog } from '../onboarding/empty-state';
import { ListeningPulse } from '../onboarding/listening-pulse';

export const FirstLine = () => (
  <section aria-labelledby="first-line-title" className="mx-auto w-full max-w-4xl px-4 py-10">
    <ListeningPulse>Listening for the first message</ListeningPulse>
    <h2 id="first-line-title" className="mt-4 text-center font-semibold text-xl tracking-tight">
      Every step of every agent, as it comes
    </h2>
    <p className="mx-auto mt-1 max-w-lg text-balance text-center text-md text-muted">
      One line for each DecisionLog and each call through the proxy, newest on top. This request sends the
      first.
    </p>
    <FirstLog />
    <p className="mt-4 text-center">
      <TextLink to="/agents">Or send LLM calls through the proxy, by one base URL</TextLink>
    </p>
  </section>
);
