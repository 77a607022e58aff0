// Listeners and subnets of requests, checked as AWS checks them.
import { type Fields, numberOf, recordsOf, textOf } from './query.ts';
import {
  AwsError,
  type ClassicListener,
  knownSslPolicies,
  requireNumber,
  type World,
} from './world.ts';

const layers: Readonly<Record<string, number>> = { HTTP: 7, HTTPS: 7, TCP: 4, SSL: 4 };

export function readListeners(input: Fields, world: World): readonly ClassicListener[] {
  return recordsOf(input, 'Listeners').map((fields) => {
    const protocol = (textOf(fields, 'Protocol') ?? '').toUpperCase();
    const instanceProtocol = (textOf(fields, 'InstanceProtocol') ?? protocol).toUpperCase();
    const certificate = textOf(fields, 'SSLCertificateId');
    if (layers[protocol] === undefined || layers[protocol] !== layers[instanceProtocol]) {
      throw new AwsError(
        'InvalidConfigurationRequest',
        `Listener protocol ${protocol} can not lead to instance protocol ${instanceProtocol}`,
      );
    }
    const isEncrypted = protocol === 'HTTPS' || protocol === 'SSL';
    if (isEncrypted && !world.now().certificates.includes(certificate ?? '')) {
      throw new AwsError('CertificateNotFound', `No certificate ${certificate}`);
    }
    return {
      port: requireNumber('LoadBalancerPort', numberOf(fields, 'LoadBalancerPort'), [1, 65535]),
      protocol,
      instancePort: requireNumber('InstancePort', numberOf(fields, 'InstancePort'), [1, 65535]),
      instanceProtocol,
      ...(isEncrypted && certificate !== undefined ? { certificate } : {}),
      policies: isEncrypted ? knownSslPolicies.slice(0, 1) : [],
    };
  });
}

/** At least one, all of them known, of one VPC, and no two in a zone. */
export function readSubnets(ids: readonly string[], world: World): readonly string[] {
  const subnets = ids.map((id) => {
    const subnet = world.now().subnets.get(id);
    if (subnet !== undefined) return subnet;
    throw new AwsError('SubnetNotFound', `The subnet ID '${id}' does not exist`);
  });
  if (subnets.length === 0) throw new AwsError('ValidationError', 'A subnet is required');
  if (new Set(subnets.map(({ zone }) => zone)).size < subnets.length) {
    throw new AwsError('InvalidConfigurationRequest', 'Two subnets are in one availability zone');
  }
  if (new Set(subnets.map(({ vpcId }) => vpcId)).size > 1) {
    throw new AwsError('InvalidSubnet', 'The subnets are in different VPCs');
  }
  return ids.toSorted();
}
