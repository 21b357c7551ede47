/** The command line of `image`. */
import type { Command } from 'commander';
import { outputOption } from '../get/getCommand.ts';
import { socketOptions } from '../stream/podCommands.ts';
import type { ImageImportOptions, ImageListOptions, RuntimeOptions } from './image.ts';

export interface ImageCommands {
  imageList(names: string[], options: ImageListOptions): Promise<void>;
  imageImport(file: string, options: ImageImportOptions): Promise<void>;
  imagePull(names: string[], options: RuntimeOptions): Promise<void>;
  imageRemove(names: string[], options: RuntimeOptions): Promise<void>;
}

const runtimeOptions = (command: Command): Command =>
  socketOptions(command).option(
    '--container-runtime-endpoint <socket>',
    'endpoint of the runtime, as unix:///path, instead of that of a running agent',
  );

export function addImageCommand(program: Command, commands: ImageCommands): void {
  const image = program.command('image').description('the images of the runtime in use');
  runtimeOptions(image.command('list').alias('ls').description('list the images of the runtime'))
    .argument('[name...]', 'only images with this name')
    .addOption(outputOption())
    .option('--no-headers', 'print no headers in a table')
    .action((names: string[], options: ImageListOptions) => commands.imageList(names, options));
  runtimeOptions(
    image
      .command('import')
      .description('import images from a file, so that pods can use them without a registry; needs containerd'),
  )
    .argument(
      '<file>',
      'an archive of "docker save" or "podman save", or an OCI layout as tar; may be compressed; - reads the standard input',
    )
    .option('--name <image>', 'name for the only image of the archive, instead of its own')
    .action((file: string, options: ImageImportOptions) => commands.imageImport(file, options));
  runtimeOptions(
    image
      .command('pull')
      .description(
        "pull images with the node's credentials, as for a pod without imagePullSecrets; they count as preloaded",
      ),
  )
    .argument('<name...>', 'name of the image')
    .action((names: string[], options: RuntimeOptions) => commands.imagePull(names, options));
  runtimeOptions(
    image
      .command('remove')
      .alias('rm')
      .description('remove images that no container uses; a name of an image with others is removed alone'),
  )
    .argument('<name...>', 'name of the image, or its ID for all of its names')
    .action((names: string[], options: RuntimeOptions) => commands.imageRemove(names, options));
}
