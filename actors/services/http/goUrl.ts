/**
 * Parses, resolves and formats URLs like Go's net/url. Probes and hooks need Go's URLs, because Node's `URL` follows
 * the WHATWG rules: it removes dot segments, turns `\` into `/`, and escapes other characters.
 *
 * All fields are byte strings, with one character in U+0000..U+00FF for each byte, because escapes may represent bytes
 * that are not UTF-8. `encodeUtf8` and `decodeUtf8` convert between these and text.
 */
import { messageOf } from '../../../base/failure.ts';
import { quotedText } from '../../../base/text/quotedText.ts';

interface UserInfo {
  readonly name: string;
  readonly password?: string;
}

interface UrlFields {
  readonly scheme: string;
  /** The part after the scheme of a URL such as `mailto:x`, which has neither a host nor a path. */
  readonly opaque: string;
  readonly user?: UserInfo;
  /** Host and port, e.g. `[::1]:80`. */
  readonly host: string;
  readonly path: string;
  /** The path as written. Empty if this is the default encoding of `path`. */
  readonly rawPath: string;
  /** Whether a URL with a scheme has no `//`. */
  readonly omitsHost: boolean;
  /** Whether an empty query is written as `?`. */
  readonly forcesQuery: boolean;
  readonly query: string;
  readonly fragment: string;
  readonly rawFragment: string;
}

const EMPTY_FIELDS: UrlFields = {
  scheme: '',
  opaque: '',
  host: '',
  path: '',
  rawPath: '',
  omitsHost: false,
  forcesQuery: false,
  query: '',
  fragment: '',
  rawFragment: '',
};

/** Returns the UTF-8 bytes of a string as a byte string. */
export const encodeUtf8 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** Decodes a byte string as UTF-8. */
export const decodeUtf8 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

export class GoUrl {
  readonly fields: UrlFields;

  private constructor(fields: UrlFields) {
    this.fields = fields;
  }

  /**
   * Parses a URL, given as a byte string. Throws an error with Go's message, such as `parse "/%zz": invalid URL escape
   * "%zz"`.
   */
  static parse(bytes: string): GoUrl {
    const [url, fragment] = splitAtFirst(bytes, '#');
    const fields = withInput(url, () => parseFields(url));
    return new GoUrl({ ...fields, ...withInput(bytes, () => fragmentFields(fragment ?? '')) });
  }

  /**
   * Returns the URL of an HTTP probe or hook (`formatURL` in `pkg/probe/http/request.go`). `path` is parsed as a URL,
   * but only the resulting path and query are used. If `path` is not a valid URL, it is used as a literal path.
   */
  static forProbe(scheme: string, hostPort: string, path: string): GoUrl {
    const bytes = encodeUtf8(path);
    let fields: UrlFields;
    try {
      ({ fields } = GoUrl.parse(bytes));
    } catch {
      fields = { ...EMPTY_FIELDS, path: bytes };
    }
    return GoUrl.parse(new GoUrl({ ...fields, scheme, host: encodeUtf8(hostPort) }).toBytes());
  }

  /** Resolves a reference, such as the Location of a redirect, against this URL. */
  resolve(reference: GoUrl): GoUrl {
    const baseFields = this.fields;
    const { fields } = reference;
    const scheme = fields.scheme || baseFields.scheme;
    if (fields.scheme !== '' || fields.host !== '' || fields.user !== undefined) {
      return new GoUrl({ ...fields, scheme, ...pathFields(resolvePath(escapedPath(fields), '')) });
    }
    if (fields.opaque !== '') {
      const { user: _, ...rest } = fields;
      return new GoUrl({ ...rest, scheme, host: '', path: '' });
    }
    const hasSamePath = fields.path === '' && !fields.forcesQuery && fields.query === '';
    const hasSameFragment = hasSamePath && fields.fragment === '';
    return new GoUrl({
      ...fields,
      scheme,
      ...(baseFields.user === undefined ? {} : { user: baseFields.user }),
      host: baseFields.host,
      query: hasSamePath ? baseFields.query : fields.query,
      fragment: hasSameFragment ? baseFields.fragment : fields.fragment,
      rawFragment: hasSameFragment ? baseFields.rawFragment : fields.rawFragment,
      ...pathFields(resolvePath(escapedPath(baseFields), escapedPath(fields))),
    });
  }

  withoutUser(): GoUrl {
    const { user: _, ...fields } = this.fields;
    return new GoUrl(fields);
  }

  get isAbsolute(): boolean {
    return this.fields.scheme !== '';
  }

  /** The host without port and brackets. */
  get hostname(): string {
    return splitHostPort(this.fields.host).hostname;
  }

  /** The port as written, or an empty string. */
  get port(): string {
    return splitHostPort(this.fields.host).port;
  }

  /** The request target of HTTP/1.1: path and query. */
  get requestTarget(): string {
    const { opaque, scheme } = this.fields;
    const start =
      opaque === '' ? escapedPath(this.fields) || '/' : opaque.startsWith('//') ? `${scheme}:${opaque}` : opaque;
    return start + formatQuery(this.fields);
  }

  /** Formats the URL for error messages, without its password. */
  toString(): string {
    const { user } = this.fields;
    const redactedFields =
      user?.password === undefined ? this.fields : { ...this.fields, user: { ...user, password: '***' } };
    return decodeUtf8(formatUrl(redactedFields).replace(':%2A%2A%2A@', ':***@'));
  }

  /** Formats the whole URL as a byte string. */
  toBytes(): string {
    return formatUrl(this.fields);
  }
}

/** Adds the parsed input to the message of an error. */
function withInput<T>(bytes: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new Error(`parse ${quotedBytes(bytes)}: ${messageOf(cause)}`, { cause });
  }
}

const UTF8_CHARACTER =
  /\p{ASCII}|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\xff]/gsu;

/** Quotes a byte string as Go's `%q` does. Bytes that are not UTF-8 are written as `\xc3`. */
export function quotedBytes(bytes: string): string {
  const encodedCharacters = (bytes.match(UTF8_CHARACTER) ?? []).map((character) =>
    character.length === 1 && character > '\x7f'
      ? `\\x${character.charCodeAt(0).toString(16)}`
      : quotedText(decodeUtf8(character)).slice(1, -1),
  );
  return `"${encodedCharacters.join('')}"`;
}

function formatUrl(fields: UrlFields): string {
  const { scheme, opaque, user, host, path, omitsHost, fragment } = fields;
  let url = scheme === '' ? '' : `${scheme}:`;
  if (opaque !== '') {
    url += opaque;
  } else {
    const hasAuthority = scheme !== '' || host !== '' || user !== undefined;
    const isAuthorityOmitted = omitsHost && host === '' && user === undefined;
    if (hasAuthority && !isAuthorityOmitted) {
      if (host !== '' || path !== '' || user !== undefined) url += '//';
      if (user !== undefined) url += `${formatUserInfo(user)}@`;
      url += escapePart(host, 'host');
    }
    const encodedPath = escapedPath(fields);
    if (encodedPath !== '' && !encodedPath.startsWith('/') && host !== '') url += '/';
    // Prepend `./` to a first path segment with a colon, because it would otherwise be parsed as a scheme.
    if (url === '' && splitAtFirst(encodedPath, '/')[0].includes(':')) url += './';
    url += encodedPath;
  }
  url += formatQuery(fields);
  return fragment === '' ? url : `${url}#${escapedFragment(fields)}`;
}

const formatUserInfo = ({ name, password }: UserInfo): string =>
  escapePart(name, 'user') + (password === undefined ? '' : `:${escapePart(password, 'user')}`);

const formatQuery = ({ forcesQuery, query }: UrlFields): string => (forcesQuery || query !== '' ? `?${query}` : '');

/** Splits a string at the first separator. Without a separator, returns only the whole string. */
function splitAtFirst(text: string, separator: string): [before: string, after?: string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + separator.length)];
}

function parseFields(url: string): UrlFields {
  if (hasControlByte(url)) throw new Error('net/url: invalid control character in URL');
  if (url === '*') return { ...EMPTY_FIELDS, path: '*' };
  const { scheme, rest } = splitScheme(url);
  const endsWithQuestionMark = rest.endsWith('?') && rest.indexOf('?') === rest.length - 1;
  const [hierarchy, query = ''] = endsWithQuestionMark ? [rest.slice(0, -1)] : splitAtFirst(rest, '?');
  const fields = { ...EMPTY_FIELDS, scheme, forcesQuery: endsWithQuestionMark, query };
  if (!hierarchy.startsWith('/')) {
    if (scheme !== '') return { ...fields, opaque: hierarchy };
    if (splitAtFirst(hierarchy, '/')[0].includes(':'))
      throw new Error('first path segment in URL cannot contain colon');
  }
  if (hierarchy.startsWith('//') && (scheme !== '' || !hierarchy.startsWith('///'))) {
    const end = hierarchy.indexOf('/', 2);
    const authorityText = hierarchy.slice(2, end < 0 ? undefined : end);
    return { ...fields, ...authorityFields(authorityText), ...pathFields(end < 0 ? '' : hierarchy.slice(end)) };
  }
  return { ...fields, omitsHost: scheme !== '' && hierarchy.startsWith('/'), ...pathFields(hierarchy) };
}

const hasControlByte = (bytes: string): boolean => Array.from(bytes).some((byte) => byte < ' ' || byte === '\x7f');

function splitScheme(url: string): { readonly scheme: string; readonly rest: string } {
  if (url.startsWith(':')) throw new Error('missing protocol scheme');
  const [, scheme, rest = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s.exec(url) ?? [];
  return scheme === undefined ? { scheme: '', rest: url } : { scheme: scheme.toLowerCase(), rest };
}

function authorityFields(authority: string): Pick<UrlFields, 'host' | 'user'> {
  const at = authority.lastIndexOf('@');
  const host = parseHost(authority.slice(at + 1));
  if (at < 0) return { host };
  const userInfo = authority.slice(0, at);
  if (!/^[A-Za-z0-9._:~!$&'()*+,;=%@-]*$/.test(userInfo)) throw new Error('net/url: invalid userinfo');
  const [name, password] = splitAtFirst(userInfo, ':');
  const user = { name: unescapePart(name, 'user') };
  return { host, user: password === undefined ? user : { ...user, password: unescapePart(password, 'user') } };
}

function parseHost(host: string): string {
  const closingBracket = host.startsWith('[') ? host.lastIndexOf(']') : undefined;
  if (closingBracket === -1) throw new Error("missing ']' in host");
  const portStart = closingBracket === undefined ? host.lastIndexOf(':') : closingBracket + 1;
  const port = portStart < 0 ? '' : host.slice(portStart);
  if (!/^(?::[0-9]*)?$/.test(port)) throw new Error(`invalid port ${quotedBytes(port)} after host`);
  const zoneStart = closingBracket === undefined ? -1 : host.slice(0, closingBracket).indexOf('%25');
  if (zoneStart < 0 || closingBracket === undefined) return unescapePart(host, 'host');
  return (
    unescapePart(host.slice(0, zoneStart), 'host') +
    unescapePart(host.slice(zoneStart, closingBracket), 'zone') +
    unescapePart(host.slice(closingBracket), 'host')
  );
}

function splitHostPort(hostPort: string): { readonly hostname: string; readonly port: string } {
  const [, host = hostPort, port = ''] = /^(.*):([0-9]*)$/s.exec(hostPort) ?? [];
  return { hostname: /^\[.*\]$/s.test(host) ? host.slice(1, -1) : host, port };
}

function pathFields(encodedPath: string): Pick<UrlFields, 'path' | 'rawPath'> {
  const path = unescapePart(encodedPath, 'path');
  return { path, rawPath: escapePart(path, 'path') === encodedPath ? '' : encodedPath };
}

function fragmentFields(encodedFragment: string): Pick<UrlFields, 'fragment' | 'rawFragment'> {
  const fragment = unescapePart(encodedFragment, 'fragment');
  return { fragment, rawFragment: escapePart(fragment, 'fragment') === encodedFragment ? '' : encodedFragment };
}

function escapedPath({ path, rawPath }: UrlFields): string {
  if (rawPath !== '' && isValidEncoding(rawPath, 'path')) return rawPath;
  return path === '*' ? '*' : escapePart(path, 'path');
}

function escapedFragment({ fragment, rawFragment }: UrlFields): string {
  if (rawFragment !== '' && isValidEncoding(rawFragment, 'fragment')) return rawFragment;
  return escapePart(fragment, 'fragment');
}

/** Resolves `reference` against the directory of `base` and removes dot segments. */
function resolvePath(base: string, reference: string): string {
  const joinedPath =
    reference === ''
      ? base
      : reference.startsWith('/')
        ? reference
        : base.slice(0, base.lastIndexOf('/') + 1) + reference;
  if (joinedPath === '') return '';
  const segments = joinedPath.split('/');
  let resolvedSegments: string[] = [];
  for (const segment of segments) {
    if (segment === '..') resolvedSegments = resolvedSegments.slice(0, -1);
    else if (segment !== '.') resolvedSegments.push(segment);
  }
  const lastSegment = segments.at(-1);
  const path = `/${resolvedSegments.join('/')}${lastSegment === '.' || lastSegment === '..' ? '/' : ''}`;
  return path.startsWith('//') ? path.slice(1) : path;
}

type UrlPart = 'path' | 'host' | 'zone' | 'user' | 'fragment';

/** The characters other than letters, digits and `-_.~` that need no escaping in each part of a URL. */
const UNESCAPED_CHARACTERS: Readonly<Record<UrlPart, string>> = {
  path: '$&+,/:;=@',
  host: '!$&\'()*+,;=:[]<>"',
  zone: '!$&\'()*+,;=:[]<>"',
  user: '$&+,;=',
  fragment: '$&+,/:;=?@!()*',
};

const isUnescaped = (character: string, part: UrlPart): boolean =>
  /[A-Za-z0-9_.~-]/.test(character) || UNESCAPED_CHARACTERS[part].includes(character);

const isValidEncoding = (text: string, part: UrlPart): boolean =>
  [...text].every((character) => "!$&'()*+,;=:@[]%".includes(character) || isUnescaped(character, part));

const escapePart = (bytes: string, part: UrlPart): string =>
  bytes.replace(/[^A-Za-z0-9_.~-]/g, (character) =>
    isUnescaped(character, part)
      ? character
      : `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );

function unescapePart(text: string, part: UrlPart): string {
  const isHostPart = part === 'host' || part === 'zone';
  return text.replace(/%(?:[0-9A-Fa-f]{2})?|[^%]/gs, (match, index: number) => {
    if (!match.startsWith('%')) {
      if (isHostPart && match < '\x80' && !isUnescaped(match, part)) {
        throw new Error(`invalid character ${quotedBytes(match)} in host name`);
      }
      return match;
    }
    const isIncomplete = match.length === 1;
    const characterCode = Number.parseInt(match.slice(1), 16);
    const isAsciiInHost = part === 'host' && characterCode < 0x80 && match !== '%25';
    const character = String.fromCharCode(characterCode);
    const isInvalidInZone = part === 'zone' && match !== '%25' && character !== ' ' && !isUnescaped(character, 'host');
    if (isIncomplete || isAsciiInHost || isInvalidInZone) {
      throw new Error(`invalid URL escape ${quotedBytes(text.slice(index, index + 3))}`);
    }
    return character;
  });
}
