/** An address, whole: where it is too long for its line it is broken between its words. One text to whoever copies it. */
import { Fragment } from 'react';

const AFTER_SLASHES = /(?<=\/)(?!\/)/;

export const Address = ({ url }: { url: string }) => (
  <span className="font-mono [overflow-wrap:anywhere]">
    {url.split(AFTER_SLASHES).map((part, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a fixed sequence; the same part may occur twice.
      <Fragment key={index}>
        {part}
        <wbr />
      </Fragment>
    ))}
  </span>
);
