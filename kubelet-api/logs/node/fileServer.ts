/** Serves the files of a directory like Go's http.FileServer. Files outside of the directory are not accessible. */
import { readdir } from 'node:fs/promises';
import { posix } from 'node:path';
import { errorCode, isMissing, isTooLong } from '../../../host/files/fileErrors.ts';
import { sendError } from '../../answers.ts';
import type { Exchange } from '../../exchange.ts';
import { answerFile, isUnmodified } from './fileAnswer.ts';
import { type OpenedFile, openInside } from './openInside.ts';

const INDEX = 'index.html';

/** Serves the file or directory at a path, which is decoded and has no leading slash. */
export async function serveFile(root: string, path: string, exchange: Exchange): Promise<void> {
  if (`/${path}`.endsWith(`/${INDEX}`)) return redirect(exchange, './');
  const clean = posix.normalize(`/${path}`);
  const opened = await openIn(root, clean);
  if (typeof opened === 'number') return sendError(exchange.response, opened, ERRORS.get(opened) ?? '');
  try {
    await answerWith(root, { path, clean, found: opened }, exchange);
  } finally {
    await opened.handle.close();
  }
}

const ERRORS = new Map([
  [404, '404 page not found'],
  [403, '403 Forbidden'],
  [500, '500 Internal Server Error'],
]);

interface Found {
  readonly path: string;
  readonly clean: string;
  readonly found: OpenedFile;
}

async function answerWith(root: string, { path, clean, found }: Found, exchange: Exchange): Promise<void> {
  const [name, endsInSlash] = [posix.basename(clean), path === '' || path.endsWith('/')];
  if (found.kind === 'other') return sendError(exchange.response, 404, '404 page not found');
  if (found.kind === 'file') {
    return endsInSlash ? redirect(exchange, `../${escapedPath(Buffer.from(name))}`) : answerFile(exchange, found);
  }
  if (!endsInSlash) return redirect(exchange, `${escapedPath(Buffer.from(name))}/`);
  const index = await openIn(root, posix.join(clean, INDEX));
  if (typeof index === 'number') return sendListing(found, exchange);
  try {
    await (index.kind === 'file' ? answerFile(exchange, index) : sendListing(found, exchange));
  } finally {
    await index.handle.close();
  }
}

/** Opens a file below a directory, or returns the status code of the error. */
async function openIn(root: string, path: string): Promise<OpenedFile | number> {
  // A path with NUL cannot exist.
  if (path.includes('\0')) return 404;
  try {
    return await openInside(root, path);
  } catch (error) {
    const code = errorCode(error);
    // A path outside of the directory counts as missing. Like in Go's file server, a name that is too long is an error.
    if (code === undefined || (isMissing(error) && !isTooLong(error))) return 404;
    return code === 'EACCES' || code === 'EPERM' ? 403 : 500;
  }
}

function redirect({ response, url }: Exchange, to: string): void {
  response.writeHead(301, { Location: to + url.search, 'Content-Length': 0 }).end();
}

const HEAD = '<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n';

async function sendListing({ handle, stats }: OpenedFile, { request, response }: Exchange): Promise<void> {
  if (isUnmodified(request.headers['if-modified-since'], stats.mtime)) {
    response.writeHead(304).end();
    return;
  }
  const entries = await readdir(`/proc/self/fd/${handle.fd}`, { withFileTypes: true, encoding: 'buffer' });
  const names = entries.map((entry) => (entry.isDirectory() ? Buffer.concat([entry.name, SLASH]) : entry.name));
  const links = names
    .sort((one, other) => one.compare(other))
    .map((name) => Buffer.concat([Buffer.from(`<a href="${escapedPath(name)}">`), escapedText(name), END]));
  const page = Buffer.concat([Buffer.from(HEAD), ...links, Buffer.from('</pre>\n')]);
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Last-Modified': stats.mtime.toUTCString(),
    'Content-Length': page.length,
  });
  response.end(page);
}

const SLASH = Buffer.from('/');
const END = Buffer.from('</a>\n');

/** Escapes a name for a URL's path like Go. A name that looks like the start of an absolute URL gets a `./` prefix. */
function escapedPath(name: Buffer): string {
  const escaped = name
    .toString('latin1')
    .replace(
      /[^A-Za-z0-9\-_.~$&+,/:;=@]/g,
      (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    );
  const [first = ''] = escaped.split('/');
  return first.includes(':') ? `./${escaped}` : escaped;
}

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&#34;'],
  ["'", '&#39;'],
]);

/** Escapes the bytes of a name for HTML. The bytes need not be UTF-8. */
const escapedText = (name: Buffer): Buffer =>
  Buffer.from(
    name.toString('latin1').replace(/[&<>"']/g, (character) => ENTITIES.get(character) ?? ''),
    'latin1',
  );
