import { type BuiltImage, ociManifestType } from '../../../cri/managed/ociArchive.ts';
import { loopbackServer } from './loopbackServer.ts';

/** A registry of a test, which only this host can reach. */
export interface Registry {
  /** `127.0.0.1:5000`, as the names of its images begin. */
  readonly host: string;
  /** Who has asked it for something, in order; empty for nobody. */
  readonly asked: readonly string[];
  end(): Promise<void>;
}

interface User {
  readonly username: string;
  readonly password: string;
}

/** Serves one image under every repository and tag by the protocol of registries. */
export const openRegistry = (image: BuiltImage): Promise<Registry> => serve(image, () => true);

/** As an open one, but 401 for everybody but this user. */
export const guardedRegistry = (image: BuiltImage, { username, password }: User): Promise<Registry> =>
  serve(image, (given) => given === `${username}:${password}`);

async function serve(image: BuiltImage, isAllowed: (given: string) => boolean): Promise<Registry> {
  const asked: string[] = [];
  const blobs = new Map(image.blobs.map(({ digest, content }) => [digest, content]));
  const { port, end } = await loopbackServer((request, response) => {
    const [, given = ''] = /^Basic (.*)$/.exec(request.headers.authorization ?? '') ?? [];
    const decoded = Buffer.from(given, 'base64').toString();
    asked.push(decoded.split(':')[0] ?? '');
    if (!isAllowed(decoded)) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end();
      return;
    }
    const [, kind, what = ''] = /\/(manifests|blobs)\/([^/]+)$/.exec(request.url ?? '') ?? [];
    const digest = kind === 'manifests' && !what.startsWith('sha256:') ? image.manifest.digest : what;
    const content = blobs.get(digest);
    if (content === undefined) {
      response.writeHead(kind === undefined ? 200 : 404).end();
      return;
    }
    const type = digest === image.manifest.digest ? ociManifestType : 'application/octet-stream';
    response.writeHead(200, {
      ...{ 'content-type': type, 'content-length': content.length },
      'docker-content-digest': digest,
    });
    response.end(request.method === 'HEAD' ? undefined : content);
  });
  return { host: `127.0.0.1:${port}`, asked, end };
}
