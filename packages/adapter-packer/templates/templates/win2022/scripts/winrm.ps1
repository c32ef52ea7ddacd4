# Driver tools, the guest agent, and WinRM over HTTPS for later work on the machine.
$ErrorActionPreference = "Stop"
Get-Volume | Where-Object { $_.DriveType -eq "CD-ROM" } | ForEach-Object {
  $tools = "$($_.DriveLetter):\virtio-win-guest-tools.exe"
  if (Test-Path $tools) { Start-Process -Wait $tools -ArgumentList "/install", "/quiet", "/norestart" }
}
Set-NetConnectionProfile -NetworkCategory Private
Enable-PSRemoting -Force -SkipNetworkProfileCheck
Set-Item WSMan:\localhost\Service\Auth\Basic $true
$certificate = New-SelfSignedCertificate -DnsName $env:COMPUTERNAME -CertStoreLocation Cert:\LocalMachine\My
New-Item WSMan:\localhost\Listener -Transport HTTPS -Address * -CertificateThumbPrint $certificate.Thumbprint -Force
New-NetFirewallRule -DisplayName "WinRM over HTTPS" -Direction Inbound -Protocol TCP -LocalPort 5986 -Action Allow
