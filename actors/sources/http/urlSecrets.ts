/** Hides secrets in URLs. A password, or a token in the query, is never displayed or stored. */
import { hash } from 'node:crypto';

const HIDDEN_PASSWORD = 'xxxxx';

/** Returns the URL without user and password, and with placeholders for the values of its query. */
export function withoutSecrets(text: string): string {
  const url = URL.parse(text);
  if (url === null) return HIDDEN_PASSWORD;
  if (url.username === '' && url.password === '' && url.search === '') return text;
  [url.username, url.password] = ['', ''];
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, HIDDEN_PASSWORD);
  return url.href;
}

/** Returns an identifier of a URL that contains no secrets and does not change with the password. */
export function urlKey(text: string): string {
  const redactedText = withoutSecrets(text);
  return redactedText === text ? text : `${redactedText}#${hash('sha256', splitCredentials(text).url).slice(0, 16)}`;
}

/**
 * Splits a URL into a URL without user and password and the Authorization header that contains them, because `fetch`
 * rejects URLs with credentials.
 */
export function splitCredentials(text: string): { url: string; authorization?: string } {
  const url = URL.parse(text);
  if (url === null || (url.username === '' && url.password === '')) return { url: text };
  const credentials = `${decodeComponent(url.username)}:${decodeComponent(url.password)}`;
  [url.username, url.password] = ['', ''];
  return { url: url.href, authorization: `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}` };
}

function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The string contains a literal percent sign and not an escape.
    return text;
  }
}

/** Returns the secrets of a URL as written, decoded and as sent. */
function findSecrets(url: URL): string[] {
  const { authorization } = splitCredentials(url.href);
  const queryValues = url.search.split(/[?&]/).map((pair) => pair.slice(pair.indexOf('=') + 1));
  const headerValues = authorization === undefined ? [] : [authorization.replace('Basic ', '')];
  return [url.password, decodeComponent(url.password), ...url.searchParams.values(), ...queryValues, ...headerValues];
}

/** Replaces all secrets in a message, which may contain the URL or a header. */
export function hideSecrets(
  message: string,
  text: string,
  headers: readonly (readonly [name: string, value: string])[],
): string {
  const url = URL.parse(text);
  const withoutUrl = message.replaceAll(text, withoutSecrets(text));
  const secrets = [
    // The second word of `Bearer xyz` and `Basic xyz` is a secret even without the first word.
    ...headers.flatMap(([, value]) => [value, value.split(' ').at(-1) ?? '']),
    ...(url === null ? [] : findSecrets(url)),
  ];
  // Skip short values, because they would match ordinary words in the message.
  return secrets
    .filter((secret) => secret.length > 3)
    .reduce((redacted, secret) => redacted.replaceAll(secret, HIDDEN_PASSWORD), withoutUrl);
}
