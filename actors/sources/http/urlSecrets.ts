/** A URL may hold a password, or a token in its query: neither is ever shown or kept. */
import { hash } from 'node:crypto';

const HIDDEN = 'xxxxx';

/** A URL as it can be shown: without its user and password, and with the names alone of what it asks for. */
export function withoutSecrets(text: string): string {
  const url = URL.parse(text);
  if (url === null) return HIDDEN;
  if (url.username === '' && url.password === '' && url.search === '') return text;
  [url.username, url.password] = ['', ''];
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, HIDDEN);
  return url.href;
}

/** What tells one URL from another without naming a secret; a password that has changed makes no other of it. */
export function keyOf(text: string): string {
  const shown = withoutSecrets(text);
  return shown === text ? text : `${shown}#${hash('sha256', splitCredentials(text).url).slice(0, 16)}`;
}

/** The URL that is asked, and the header that its user and password become: `fetch` takes no URL that has them. */
export function splitCredentials(text: string): { url: string; authorization?: string } {
  const url = URL.parse(text);
  if (url === null || (url.username === '' && url.password === '')) return { url: text };
  const credentials = `${decoded(url.username)}:${decoded(url.password)}`;
  [url.username, url.password] = ['', ''];
  return { url: url.href, authorization: `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that stands for itself.
    return text;
  }
}

/** As they are written in the URL, as they are meant, and as they are sent. */
function secretsOf(url: URL): string[] {
  const { authorization } = splitCredentials(url.href);
  const written = url.search.split(/[?&]/).map((pair) => pair.slice(pair.indexOf('=') + 1));
  const sent = authorization === undefined ? [] : [authorization.replace('Basic ', '')];
  return [url.password, decoded(url.password), ...url.searchParams.values(), ...written, ...sent];
}

/** A message in which what must not be shown is not: whoever made it may have put the URL or a header into it. */
export function hideSecrets(
  message: string,
  text: string,
  headers: readonly (readonly [name: string, value: string])[],
): string {
  const url = URL.parse(text);
  const shown = message.replaceAll(text, withoutSecrets(text));
  const secrets = [
    // Of `Bearer xyz` and `Basic xyz` what follows is a secret by itself.
    ...headers.flatMap(([, value]) => [value, value.split(' ').at(-1) ?? '']),
    ...(url === null ? [] : secretsOf(url)),
  ];
  // What is as short as a word of the message says nothing.
  return secrets.filter((secret) => secret.length > 3).reduce((left, secret) => left.replaceAll(secret, HIDDEN), shown);
}
