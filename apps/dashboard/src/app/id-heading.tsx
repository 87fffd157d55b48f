/** The id that a page is about, and beside it the way back to its list: one piece, of which a long id gives way. */
import { Identifier } from '../ui';
import { BackLink, type BackLinkProps } from './back-link';

interface IdHeadingProps extends BackLinkProps {
  id: string;
  charsMax: number;
  /** As in "agent id". */
  kind: string;
}

export function IdHeading({ id, charsMax, kind, ...back }: IdHeadingProps) {
  return (
    <div className="flex min-w-0 max-w-full items-center gap-x-3">
      <BackLink {...back} />
      <h1 className="min-w-0 font-semibold text-lg">
        <Identifier id={id} charsMax={charsMax} kind={kind} className="text-md" />
      </h1>
    </div>
  );
}
