// How much one layer may unpack to. What is larger is refused, and what was written of it is removed.

export type UnpackLimits = {
  readonly maxLayerBytes: number;
  readonly maxLayerEntries: number;
};

const gibibyte = 2 ** 30;

/** Of one layer as a tar file. The largest images in use, with models or SDKs, have layers of about 10 GiB. */
export const maxLayerBytes = 20 * gibibyte;
/** Of all layers of an image. */
export const maxImageBytes = 40 * gibibyte;
/** The largest images in use have some hundred thousand files; an inode and its name take about 1 KiB. */
export const maxLayerEntries = 1_000_000;
/** As of containerd and the kernel (overlayfs has room for 500 lower directories, Docker allows 127 layers). */
export const maxLayers = 127;

/**
 * A bomb: gzip makes up to 1030 bytes of one. Programs and texts unpack to 2 to 10 times their size, so this is far from them; a layer may
 * begin with a large file of zeros.
 */
const maxRatio = 100;
const freeBytes = 256 * 2 ** 20;

/** So early that no more than about 300 MB of a bomb reach the disk. */
export function isBomb(compressedBytes: number, unpackedBytes: number): boolean {
  return unpackedBytes > freeBytes + maxRatio * compressedBytes;
}

/** Below PATH_MAX, with room for the path of the store or of a container's root. */
export const maxEntryPathBytes = 4096 - 512;
/** NAME_MAX. */
export const maxNameBytes = 255;
