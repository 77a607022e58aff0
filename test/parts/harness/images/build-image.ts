// Builds small container images in memory: no program, no network.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type TarEntry, tarOf } from './tar-writer.ts';

export const mediaTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
  layerGzip: 'application/vnd.oci.image.layer.v1.tar+gzip',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
  dockerList: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerConfig: 'application/vnd.docker.container.image.v1+json',
  dockerLayer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
} as const;

export const digestOf = (content: Buffer | string): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

export type Blob = {
  readonly mediaType: string;
  readonly digest: string;
  readonly content: Buffer;
};

export type BuiltLayer = Blob & { readonly diffId: string; readonly tar: Buffer };

export type BuiltImage = {
  readonly manifest: Blob;
  readonly config: Blob;
  readonly layers: readonly BuiltLayer[];
  readonly platform: Platform;
};

export type Platform = {
  readonly os: string;
  readonly architecture: string;
  readonly variant?: string;
};

/** As in images. */
export const ownArchitecture = arch() === 'x64' ? 'amd64' : arch();

export type LayerForm = 'gzip' | 'plain' | 'docker';

export function layerOf(
  entries: readonly TarEntry[] | Buffer,
  form: LayerForm = 'gzip',
): BuiltLayer {
  const tar = Buffer.isBuffer(entries) ? entries : tarOf(entries as readonly TarEntry[]);
  const content = form === 'plain' ? tar : gzipSync(tar);
  const types = {
    gzip: mediaTypes.layerGzip,
    plain: mediaTypes.layer,
    docker: mediaTypes.dockerLayer,
  };
  return { mediaType: types[form], digest: digestOf(content), content, diffId: digestOf(tar), tar };
}

export type ImageSpec = {
  readonly layers: readonly BuiltLayer[];
  /** `Cmd`, `Env` and so on, as in the configuration of an image. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly platform?: Partial<Platform>;
  /** Docker's media types. */
  readonly isDocker?: boolean;
};

const blob = (mediaType: string, value: object): Blob => {
  const content = Buffer.from(JSON.stringify(value));
  return { mediaType, digest: digestOf(content), content };
};

const descriptor = ({ mediaType, digest, content }: Blob) => ({
  ...{ mediaType, digest },
  size: content.length,
});

export function buildImage({
  layers,
  config = {},
  platform = {},
  isDocker,
}: ImageSpec): BuiltImage {
  const full = { os: 'linux', architecture: ownArchitecture, ...platform };
  const configBlob = blob(isDocker ? mediaTypes.dockerConfig : mediaTypes.config, {
    ...full,
    config,
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created_by: 'test' })),
  });
  const mediaType = isDocker ? mediaTypes.dockerManifest : mediaTypes.manifest;
  const manifest = blob(mediaType, {
    ...{ schemaVersion: 2, mediaType },
    config: descriptor(configBlob),
    layers: layers.map(descriptor),
  });
  return { manifest, config: configBlob, layers, platform: full };
}

/** A manifest list. */
export function indexOf(images: readonly BuiltImage[], isDocker = false): Blob {
  const mediaType = isDocker ? mediaTypes.dockerList : mediaTypes.index;
  return blob(mediaType, {
    ...{ schemaVersion: 2, mediaType },
    manifests: images.map(({ manifest, platform }) => ({ ...descriptor(manifest), platform })),
  });
}

const busyboxPath = '/bin/busybox';
/** What tests call; the program has more. */
const applets =
  'ash cat chmod chown cp date df dirname echo env false grep head hostname httpd id ip kill ln ls mkdir mknod mount mv nc nslookup ping ps pwd readlink rm sed seq sh sleep sort stat sync tail tar tee test timeout touch tr true umount uname vi wc wget which whoami xargs yes'.split(
    ' ',
  );

/** What to say where Debian's package is missing; undefined where it is there. */
export function busyboxMissing(): string | undefined {
  try {
    // Where the name of the program interpreter is; a static C library has it further behind.
    const head = readFileSync(busyboxPath).toString('latin1', 0, 4096);
    return head.includes('ld-linux') ? 'busybox is not static (Debian: busybox-static)' : undefined;
  } catch {
    return 'busybox is not installed (Debian: busybox-static)';
  }
}

/** A layer with busybox and its commands in /bin, a user `app` (1000) and a world-writable /tmp. */
export function busyboxLayer(): BuiltLayer {
  return layerOf([
    ...['bin', 'etc', 'home', 'root', 'usr', 'usr/bin', 'var'].map(
      (name): TarEntry => ({ name: `${name}/`, type: 'directory' }),
    ),
    { name: 'tmp/', type: 'directory', mode: 0o1777 },
    { name: 'home/app/', type: 'directory', uid: 1000, gid: 1000 },
    { name: 'bin/busybox', content: readFileSync(busyboxPath), mode: 0o755 },
    ...applets.map(
      (name): TarEntry => ({ name: `bin/${name}`, type: 'symlink', target: 'busybox' }),
    ),
    { name: 'usr/bin/env', type: 'symlink', target: '/bin/busybox' },
    {
      name: 'etc/passwd',
      content: 'root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000:app:/home/app:/bin/sh\n',
    },
    { name: 'etc/group', content: 'root:x:0:\napp:x:1000:\nstaff:x:50:app\n' },
  ]);
}

/** Busybox with these files above it; `Cmd` is `sh` unless the configuration says otherwise. */
export function busyboxImage({
  files = [],
  config = {},
}: {
  readonly files?: readonly TarEntry[];
  readonly config?: Readonly<Record<string, unknown>>;
} = {}): BuiltImage {
  const layers = files.length === 0 ? [busyboxLayer()] : [busyboxLayer(), layerOf(files)];
  return buildImage({ layers, config: { Cmd: ['sh'], Env: ['PATH=/bin:/usr/bin'], ...config } });
}

export const blobsOf = ({ manifest, config, layers }: BuiltImage): readonly Blob[] => [
  manifest,
  config,
  ...layers,
];

/** The files of an OCI layout, by path; names become annotations as containerd writes them. */
export function layoutFiles(
  images: readonly { readonly image: BuiltImage; readonly name?: string }[],
): ReadonlyMap<string, Buffer> {
  const index = {
    ...{ schemaVersion: 2, mediaType: mediaTypes.index },
    manifests: images.map(({ image, name }) => ({
      ...descriptor(image.manifest),
      platform: image.platform,
      ...(name === undefined ? {} : { annotations: { 'io.containerd.image.name': name } }),
    })),
  };
  return new Map([
    ['oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}')],
    ['index.json', Buffer.from(JSON.stringify(index))],
    ...images
      .flatMap(({ image }) => blobsOf(image))
      .map(({ digest, content }): [string, Buffer] => [
        `blobs/${digest.replace(':', '/')}`,
        content,
      ]),
  ]);
}

export async function writeLayout(
  directory: string,
  images: readonly { readonly image: BuiltImage; readonly name?: string }[],
): Promise<void> {
  await mkdir(join(directory, 'blobs', 'sha256'), { recursive: true });
  for (const [path, content] of layoutFiles(images))
    await writeFile(join(directory, path), content);
}

/** What `docker save` wrote before version 25. */
export function dockerArchive(
  images: readonly { readonly image: BuiltImage; readonly names: readonly string[] }[],
): Buffer {
  const hexOf = (digest: string): string => digest.slice('sha256:'.length);
  const layers = new Map(
    images.flatMap(({ image }) => image.layers.map((layer) => [layer.diffId, layer] as const)),
  );
  const manifest = images.map(({ image, names }) => ({
    Config: `${hexOf(image.config.digest)}.json`,
    RepoTags: names,
    Layers: image.layers.map(({ diffId }) => `${hexOf(diffId)}/layer.tar`),
  }));
  return tarOf([
    ...[...layers.values()].flatMap(({ diffId, tar }): TarEntry[] => [
      { name: `${hexOf(diffId)}/`, type: 'directory' },
      { name: `${hexOf(diffId)}/VERSION`, content: '1.0' },
      { name: `${hexOf(diffId)}/layer.tar`, content: tar },
    ]),
    ...images.map(
      ({ image }): TarEntry => ({
        name: `${hexOf(image.config.digest)}.json`,
        content: image.config.content,
      }),
    ),
    { name: 'manifest.json', content: JSON.stringify(manifest) },
  ]);
}
