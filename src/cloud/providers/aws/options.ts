// The provider's flags, read.
import { type ProviderSettings, ProviderSettingsError } from '../../provider.ts';

export type AwsOptions = {
  readonly region?: string;
  readonly endpoint?: string;
  readonly vpcId?: string;
  readonly maxAttempts: number;
  readonly settleMs: number;
};

export function readOptions(settings: ProviderSettings): AwsOptions {
  const { awsRegion, awsEndpoint, awsVpc } = settings;
  if (awsEndpoint !== undefined && !/^https?:$/.test(protocolOf(awsEndpoint))) {
    throw new ProviderSettingsError(
      `--aws-endpoint is "${awsEndpoint}", but must be a URL (http:// or https://)`,
    );
  }
  if (awsVpc !== undefined && !/^vpc-[0-9a-zA-Z]+$/.test(awsVpc)) {
    throw new ProviderSettingsError(
      `--aws-vpc is "${awsVpc}", but must be the id of a VPC (vpc-...)`,
    );
  }
  const attempts = readNumber('--aws-max-attempts', settings.awsMaxAttempts ?? '3', 1, 10);
  const seconds = readNumber('--aws-settle-seconds', settings.awsSettleSeconds ?? '10', 0, 300);
  return {
    ...(awsRegion === undefined ? {} : { region: awsRegion }),
    ...(awsEndpoint === undefined ? {} : { endpoint: awsEndpoint }),
    ...(awsVpc === undefined ? {} : { vpcId: awsVpc }),
    maxAttempts: Math.trunc(attempts),
    settleMs: seconds * 1000,
  };
}

function protocolOf(text: string): string {
  return URL.canParse(text) ? new URL(text).protocol : '';
}

function readNumber(flag: string, text: string, least: number, most: number): number {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new ProviderSettingsError(
    `${flag} is "${text}", but must be a number from ${least} to ${most}`,
  );
}
