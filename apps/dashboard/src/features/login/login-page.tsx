/**
 * Signing in with an operator token. The ready link printed at first start carries it in the fragment, which no
 * server ever sees and which leaves the address bar before anything is painted.
 */
import { useRouter, useSearch } from '@tanstack/react-router';
import { Eye, EyeOff } from 'lucide-react';
import { type FormEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { meQuery, queryClient } from '../../api';
import { tellOtherTabs, whenSignedInElsewhere } from '../../app/one-login';
import { Button, Callout, Field, IconButton, Input, Logo, useFocusFirstError, useNow } from '../../ui';
import { LoginBackdrop } from './login-backdrop';
import {
  isSignedIn,
  rememberedName,
  rememberName,
  type SignInFailure,
  signIn,
  tokenOfFragment,
} from './sign-in';

export function LoginPage() {
  const { next, undone } = useSearch({ from: '/login' });
  return (
    <main className="relative grid h-full place-items-center overflow-y-auto overflow-x-hidden p-4">
      <LoginBackdrop />
      <div className="relative w-full max-w-[360px]">
        <div className="mb-6 flex flex-col items-center gap-3 text-center">
          <Logo className="size-11" ground="canvas" />
          <div>
            <h1 className="font-semibold text-xl tracking-tight">Observatory</h1>
            <p className="mt-1 text-md text-muted">
              {undone || (next && next !== '/')
                ? 'You are signed out. Sign in to go on where you were.'
                : 'See your AI agents, notice loops, stop them for real.'}
            </p>
            {undone ? (
              <p role="alert" className="mt-2 text-md text-warning">
                Your login had ended: what you asked for last was not done.
              </p>
            ) : null}
          </div>
        </div>
        <LoginForm />
        <p className="mt-4 text-center text-muted text-xs">
          No token? The gateway prints one at its first start, and an administrator can create more under
          Settings.
        </p>
      </div>
    </main>
  );
}

function LoginForm() {
  const [token, setToken] = useState('');
  const [isGiven, setIsGiven] = useState(false);
  const nameInput = useRef<HTMLInputElement>(null);
  const [name, setName] = useState(rememberedName);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<SignInFailure | null>(null);
  const form = useFocusFirstError(failure?.field ? { [failure.field]: failure.message } : {});
  const goOn = useGoOn();
  useEffect(() => whenSignedInElsewhere(goOn));
  useWhenSignedIn(!isGiven, goOn);
  useLinkToken((linked) => {
    setToken(linked);
    setIsGiven(true);
    setFailure(null);
    nameInput.current?.focus();
  });
  const waitSeconds = useNow((nowMs) => Math.max(0, Math.ceil(((failure?.retryAtMs ?? 0) - nowMs) / 1_000)));

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || waitSeconds > 0) return;
    const missing = missingField(token, name);
    if (missing) {
      setFailure(missing);
      return;
    }
    setBusy(true);
    setFailure(null);
    const outcome = await signIn(token, name);
    setBusy(false);
    if ('role' in outcome) {
      rememberName(name);
      queryClient.setQueryData(meQuery.queryKey, outcome);
      tellOtherTabs(outcome);
      goOn();
    } else setFailure(outcome);
  };

  return (
    <form
      ref={form}
      onSubmit={submit}
      noValidate
      className="flex flex-col gap-4 rounded-xl border border-line bg-surface p-5 shadow-pop"
    >
      <Field
        label="Operator token"
        hint={isGiven ? 'Taken from your link.' : undefined}
        error={failure?.field === 'token' ? failure.message : undefined}
      >
        <TokenInput value={token} onChange={setToken} autoFocus />
      </Field>
      <Field
        label="Your name"
        hint="Other operators see it, and the audit keeps it."
        error={failure?.field === 'operator_id' ? failure.message : undefined}
      >
        <Input
          value={name}
          onChange={(event) => setName(event.target.value)}
          data-testid="operator-name"
          name="operator"
          autoComplete="username"
          maxLength={100}
          ref={nameInput}
          className="!h-10"
        />
      </Field>
      {failure && failure.field === null ? (
        <Callout tone="danger" alert>
          {failure.message}
          {waitSeconds > 0
            ? ` Try again in ${waitSeconds} s.`
            : failure.retryAtMs
              ? ' You can try again now.'
              : null}
        </Callout>
      ) : null}
      <Button
        type="submit"
        variant="primary"
        size="lg"
        busy={busy}
        disabled={waitSeconds > 0}
        data-testid="login-submit"
        className="w-full"
      >
        {waitSeconds > 0 ? `Wait ${waitSeconds} s` : 'Sign in'}
      </Button>
    </form>
  );
}

interface TokenInputProps {
  value: string;
  onChange: (token: string) => void;
  autoFocus?: boolean;
}

/** A password field, so that password managers know it; what was typed can be looked at. */
function TokenInput({ value, onChange, autoFocus = false, ...field }: TokenInputProps) {
  const [shown, setShown] = useState(false);
  return (
    <div className="relative">
      <Input
        {...field}
        type={shown ? 'text' : 'password'}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        name="token"
        data-testid="operator-token"
        autoComplete="current-password"
        spellCheck={false}
        autoFocus={autoFocus}
        className="!h-10 pr-10 font-mono"
      />
      <IconButton
        label={shown ? 'Hide the token' : 'Show the token'}
        icon={shown ? <EyeOff size={15} aria-hidden="true" /> : <Eye size={15} aria-hidden="true" />}
        onClick={() => setShown(!shown)}
        className="absolute top-1 right-1"
      />
    </div>
  );
}

function missingField(token: string, name: string): SignInFailure | null {
  if (token.trim() === '')
    return { field: 'token', message: 'Enter the token you were given.', retryAtMs: null };
  if (name.trim() === '')
    return { field: 'operator_id', message: 'Enter your name; the audit needs it.', retryAtMs: null };
  return null;
}

/**
 * Hands over the token of a link and takes it out of the address bar before the first paint; also when the link is
 * pasted into a tab that shows this page already, which loads nothing.
 */
function useLinkToken(onToken: (token: string) => void): void {
  const latest = useRef(onToken);
  latest.current = onToken;
  useLayoutEffect(() => {
    const take = () => {
      const url = new URL(window.location.href);
      const token = tokenOfFragment(url.hash) ?? url.searchParams.get('token');
      if (!token) return;
      url.hash = '';
      url.searchParams.delete('token');
      window.history.replaceState(window.history.state, '', url.pathname + url.search);
      latest.current(token);
    };
    take();
    window.addEventListener('hashchange', take);
    return () => window.removeEventListener('hashchange', take);
  }, []);
}

/** @param isWanted false: whoever comes with a token wants to be signed in by that */
function useWhenSignedIn(isWanted: boolean, run: () => void): void {
  const latest = useRef(isWanted ? run : null);
  latest.current = isWanted ? run : null;
  useEffect(() => {
    let isShown = true;
    void isSignedIn().then((isSo) => isSo && isShown && latest.current?.());
    return () => {
      isShown = false;
    };
  }, []);
}

/** To where one was headed; the router has let through only paths of ours. */
function useGoOn(): () => void {
  const router = useRouter();
  const search: { next?: string } = useSearch({ strict: false });
  return () => router.history.replace(search.next ?? '/');
}
