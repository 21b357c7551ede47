/**
 * Serves the files of a directory in the same way as Go's `http.FileServer`. Files outside of the directory are not
 * accessible.
 */
import { readdir } from 'node:fs/promises';
import { posix } from 'node:path';
import { errorCode, isMissing, isTooLong } from '../../../host/files/fileErrors.ts';
import { sendError } from '../../answers.ts';
import type { Exchange } from '../../exchange.ts';
import { type OpenedFile, openInside } from './openInside.ts';
import { isUnmodified, sendFile } from './sendFile.ts';

const INDEX_FILE_NAME = 'index.html';

/** Serves the file or directory at `path`, which must be decoded and have no leading slash. */
export async function serveFile(root: string, path: string, exchange: Exchange): Promise<void> {
  if (`/${path}`.endsWith(`/${INDEX_FILE_NAME}`)) return redirect(exchange, './');
  const cleanedPath = posix.normalize(`/${path}`);
  const openedFile = await openFileOrErrorCode(root, cleanedPath);
  if (typeof openedFile === 'number')
    return sendError(exchange.response, openedFile, ERROR_RESPONSES.get(openedFile) ?? '');
  try {
    await sendRequestedFile(root, { path, cleanedPath, openedFile }, exchange);
  } finally {
    await openedFile.handle.close();
  }
}

const ERROR_RESPONSES = new Map([
  [404, '404 page not found'],
  [403, '403 Forbidden'],
  [500, '500 Internal Server Error'],
]);

interface RequestedFile {
  readonly path: string;
  readonly cleanedPath: string;
  readonly openedFile: OpenedFile;
}

async function sendRequestedFile(
  root: string,
  { path, cleanedPath, openedFile }: RequestedFile,
  exchange: Exchange,
): Promise<void> {
  const [name, endsInSlash] = [posix.basename(cleanedPath), path === '' || path.endsWith('/')];
  if (openedFile.kind === 'other') return sendError(exchange.response, 404, '404 page not found');
  if (openedFile.kind === 'file') {
    return endsInSlash ? redirect(exchange, `../${escapePath(Buffer.from(name))}`) : sendFile(exchange, openedFile);
  }
  if (!endsInSlash) return redirect(exchange, `${escapePath(Buffer.from(name))}/`);
  const index = await openFileOrErrorCode(root, posix.join(cleanedPath, INDEX_FILE_NAME));
  if (typeof index === 'number') return sendListing(openedFile, exchange);
  try {
    await (index.kind === 'file' ? sendFile(exchange, index) : sendListing(openedFile, exchange));
  } finally {
    await index.handle.close();
  }
}

/** Opens a file below a directory, or returns the status code of the error. */
async function openFileOrErrorCode(root: string, path: string): Promise<OpenedFile | number> {
  // Return 404, because no file can have a path that contains NUL.
  if (path.includes('\0')) return 404;
  try {
    return await openInside(root, path);
  } catch (error) {
    const code = errorCode(error);
    // Treat a path outside of the directory as missing. As in Go's file server, a name that is too long is an error.
    if (code === undefined || (isMissing(error) && !isTooLong(error))) return 404;
    return code === 'EACCES' || code === 'EPERM' ? 403 : 500;
  }
}

function redirect({ response, url }: Exchange, to: string): void {
  response.writeHead(301, { Location: to + url.search, 'Content-Length': 0 }).end();
}

const LISTING_HEAD = '<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n';

async function sendListing({ handle, stats }: OpenedFile, { request, response }: Exchange): Promise<void> {
  if (isUnmodified(request.headers['if-modified-since'], stats.mtime)) {
    response.writeHead(304).end();
    return;
  }
  const directoryEntries = await readdir(`/proc/self/fd/${handle.fd}`, { withFileTypes: true, encoding: 'buffer' });
  const names = directoryEntries.map((entry) =>
    entry.isDirectory() ? Buffer.concat([entry.name, SLASH]) : entry.name,
  );
  const entryLinks = names
    .sort((left, right) => left.compare(right))
    .map((name) => Buffer.concat([Buffer.from(`<a href="${escapePath(name)}">`), escapeHtml(name), LINK_END]));
  const listingPage = Buffer.concat([Buffer.from(LISTING_HEAD), ...entryLinks, Buffer.from('</pre>\n')]);
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Last-Modified': stats.mtime.toUTCString(),
    'Content-Length': listingPage.length,
  });
  response.end(listingPage);
}

const SLASH = Buffer.from('/');
const LINK_END = Buffer.from('</a>\n');

/**
 * Escapes a file name for the path of a URL as Go does. A name that looks like the start of an absolute URL gets a `./`
 * prefix.
 */
function escapePath(name: Buffer): string {
  const escapedName = name
    .toString('latin1')
    .replace(
      /[^A-Za-z0-9\-_.~$&+,/:;=@]/g,
      (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    );
  const [first = ''] = escapedName.split('/');
  return first.includes(':') ? `./${escapedName}` : escapedName;
}

const HTML_ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&#34;'],
  ["'", '&#39;'],
]);

/** Escapes the bytes of a name for HTML. The bytes need not be UTF-8. */
const escapeHtml = (name: Buffer): Buffer =>
  Buffer.from(
    name.toString('latin1').replace(/[&<>"']/g, (character) => HTML_ENTITIES.get(character) ?? ''),
    'latin1',
  );
