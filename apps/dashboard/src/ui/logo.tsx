interface LogoProps {
  className: string;
  /** What it stands on: around its dot is a gap. */
  ground: 'canvas' | 'sunken';
}

/** The mark of Observatory. */
export const Logo = ({ className, ground }: LogoProps) => (
  <svg viewBox="0 0 20 20" className={className} aria-hidden="true">
    <circle cx="10" cy="10" r="7.25" fill="none" stroke="var(--accent)" strokeWidth="2" />
    <circle cx="10" cy="10" r="2.6" fill="var(--fg)" />
    <circle cx="15.4" cy="5" r="2.4" fill="#ef4444" stroke={`var(--${ground})`} strokeWidth="1.2" />
  </svg>
);
