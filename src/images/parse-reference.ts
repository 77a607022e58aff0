// Names of images, by the grammar of github.com/distribution/reference. Pure.
import { goQuote } from '../schema/go-quote.ts';
import { ImageError } from './image-error.ts';

export type Reference = {
  /** Host, and port if it has one: `docker.io`, `registry.example:5000`, `[::1]:5000`. */
  readonly domain: string;
  /** `library/nginx`. */
  readonly path: string;
  /** `latest` if the name has neither tag nor digest. */
  readonly tag?: string;
  /** Wins over the tag. */
  readonly digest?: string;
};

/** Of the reference grammar, without tag and digest. */
const maxNameLength = 255;
/** A name, a tag of 128 and a digest: longer texts are not parsed at all. */
const maxReferenceLength = maxNameLength + 1 + 128 + 1 + 255;
const maxTagLength = 128;

const defaultDomain = 'docker.io';
const defaultTag = 'latest';

const domainForm =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::\d+)?$/;
const componentForm = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;
const tagForm = /^\w[\w.-]*$/;
const hexForm = /^[a-f0-9]{64}$/;

/** Throws ImageError with reason InvalidImageName, in the words of a kubelet. */
export function parseReference(name: string): Reference {
  const fail = (why: string): never => {
    const shown = name.length > maxReferenceLength ? `${name.slice(0, 100)}...` : name;
    throw new ImageError(
      'InvalidImageName',
      'InvalidArgument',
      `couldn't parse image name ${goQuote(shown)}: ${why}`,
    );
  };
  if (name.length > maxReferenceLength) return fail('invalid reference format');
  if (hexForm.test(name)) {
    return fail(`invalid repository name (${name}), cannot specify 64-byte hexadecimal strings`);
  }
  const [named, digest] = splitAt(name, name.indexOf('@'));
  const colon = named.lastIndexOf(':');
  const [whole, tag] = splitAt(named, colon > named.lastIndexOf('/') ? colon : -1);
  const { domain, path } = splitDomain(whole);
  if (path !== path.toLowerCase())
    return fail(`invalid reference format: repository name (${path}) must be lowercase`);
  const isName =
    domainForm.test(domain) && path.split('/').every((part) => componentForm.test(part));
  if (!isName || (tag !== undefined && !isTag(tag))) return fail('invalid reference format');
  if (`${domain}/${path}`.length > maxNameLength)
    return fail(`repository name must not be more than ${maxNameLength} characters`);
  if (digest !== undefined && !isDigest(digest)) return fail(digestProblem(digest));
  return {
    ...{ domain, path },
    ...(tag === undefined ? (digest === undefined ? { tag: defaultTag } : {}) : { tag }),
    ...(digest === undefined ? {} : { digest }),
  };
}

/** At the first character only if it is there. */
const splitAt = (text: string, at: number): readonly [string, string | undefined] =>
  at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];

const isTag = (text: string): boolean => text.length <= maxTagLength && tagForm.test(text);

/** The only algorithm that registries use for what they store. */
export const isDigest = (text: string): boolean =>
  text.startsWith('sha256:') && hexForm.test(text.slice('sha256:'.length));

function digestProblem(digest: string): string {
  const [algorithm, hex] = splitAt(digest, digest.indexOf(':'));
  if (
    hex === undefined ||
    !/^[A-Za-z][A-Za-z0-9]*$/.test(algorithm) ||
    !/^[a-fA-F0-9]{32,}$/.test(hex)
  )
    return 'invalid reference format';
  return algorithm === 'sha256' ? 'invalid checksum digest length' : 'unsupported digest algorithm';
}

/** A first component without `.`, `:` and capitals is part of the path on Docker Hub, unless it is `localhost`. */
function splitDomain(name: string): Pick<Reference, 'domain' | 'path'> {
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  const isDomain =
    slash >= 0 && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase());
  const domain = isDomain && first !== 'index.docker.io' ? first : defaultDomain;
  const path = isDomain ? name.slice(slash + 1) : name;
  return {
    domain,
    path: domain === defaultDomain && !path.includes('/') ? `library/${path}` : path,
  };
}

/** `docker.io/library/nginx`. */
export const repositoryOf = ({ domain, path }: Reference): string => `${domain}/${path}`;

/** The full name with its tag, or with its digest if it has one. */
export function referenceText(reference: Reference): string {
  const { tag = defaultTag, digest } = reference;
  return digest === undefined
    ? `${repositoryOf(reference)}:${tag}`
    : `${repositoryOf(reference)}@${digest}`;
}
