/** Generates cri/generated from cri/proto. Needs `protoc` (Debian: protobuf-compiler). The result is committed. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const options = [
  'esModuleInterop=true',
  'outputServices=grpc-js',
  'forceLong=bigint',
  'env=node',
  'importSuffix=.ts',
  'enumsAsLiterals=true',
  'outputJsonMethods=false',
  'unrecognizedEnum=false',
  'useOptionals=none',
  'outputTypeRegistry=false',
];
const protos = readdirSync(join(root, 'cri/proto'))
  .filter((name) => name.endsWith('.proto'))
  .map((name) => join('cri/proto', name));

const { status, error } = spawnSync(
  'protoc',
  [
    `--plugin=protoc-gen-ts_proto=${join(root, 'node_modules/.bin/protoc-gen-ts_proto')}`,
    '--ts_proto_out=cri/generated',
    `--ts_proto_opt=${options.join(',')}`,
    '-I',
    'cri/proto',
    ...protos,
  ],
  { cwd: root, stdio: 'inherit' },
);
if (error) console.error(`protoc could not be run (Debian: apt-get install protobuf-compiler): ${error.message}`);
process.exitCode = status ?? 1;
