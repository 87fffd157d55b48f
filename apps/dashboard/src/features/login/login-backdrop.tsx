/** Faint orbits behind the login, one of them going round for ever: what this product is about. Decoration only. */
const ORBITS = [120, 210, 310, 420, 540];

export function LoginBackdrop() {
  return (
    <svg
      aria-hidden="true"
      viewBox="-600 -600 1200 1200"
      preserveAspectRatio="xMidYMid slice"
      className="pointer-events-none absolute inset-0 size-full"
    >
      <radialGradient id="login-glow">
        <stop offset="0%" stopColor="var(--accent-soft)" />
        <stop offset="100%" stopColor="var(--canvas)" stopOpacity="0" />
      </radialGradient>
      <circle r="560" fill="url(#login-glow)" />
      {ORBITS.map((radius) => (
        <circle key={radius} r={radius} fill="none" stroke="var(--line)" strokeWidth="1" />
      ))}
      <g fill="#3b82f6">
        <circle cx="-364" cy="-210" r="4" />
        <circle cx="219" cy="219" r="4" />
        <circle cx="495" cy="-216" r="4" />
      </g>
      <g className="motion-safe:animate-[spin_14s_linear_infinite]">
        <circle cx="0" cy="-310" r="5" fill="#ef4444" />
        <path
          d="M0,-310 A310,310 0 0 0 -219,-219"
          fill="none"
          stroke="#ef4444"
          strokeOpacity="0.35"
          strokeWidth="2"
        />
      </g>
    </svg>
  );
}
